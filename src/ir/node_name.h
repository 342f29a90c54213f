// What a node is called.
#pragma once

#include <string>

#include "ir/graph.h"

namespace cameo::ir {

// Its name, or that of its first result that has one; may be empty.
const std::string& node_name(const Graph& g, NodeId n);

}  // namespace cameo::ir
