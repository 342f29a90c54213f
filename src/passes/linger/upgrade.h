// Models of linger 1.x (domain "thinker") as models of linger 3 (domain "linger").
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

inline constexpr std::string_view linger1_domain = "thinker";

// Nodes of the old domain become linger 3's operators, or ONNX's between Dequant and Quant where it has none. Returns
// how many. Throws convert.linger for a node that has no such form, and for attributes that are missing or wrong.
size_t upgrade_linger(Model& m);

}  // namespace cameo::passes
