// Names for every value, made for the output: the value's own name if it can be used, else a new one.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::ir {

enum class NodeOrder : uint8_t { canonical, listed };

// By ValueId::index. No two values of nested scopes share a name: a name taken twice gets a number as suffix, a used
// value without one becomes v0, v1, ... Unused outputs without a name stay without. Bodies side by side may reuse
// names. Made names are numbered in that order of nodes.
std::vector<std::string> value_names(const Graph& g, NodeOrder order = NodeOrder::canonical);

}  // namespace cameo::ir
