// Weights that stay where they are: a model may refer to bytes of the archive that it was made from.
#pragma once

#include <string>

#include "ir/graph.h"
#include "support/error.h"

namespace cameo::api {

// Notes of every weight whose bytes lie in `file` where they do. One that is such bytes transposed becomes those bytes
// and a Transpose node, which engines compute once. What was computed (folded batch norms, parts) is written as ever.
void weights_in_place(ir::Graph& g, const Bytes& file, const std::string& path, DiagSink& sink);

}  // namespace cameo::api
