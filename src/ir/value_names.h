// Names for every value, made at the border: those that values have where they are fit, else made ones.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::ir {

enum class NodeOrder : uint8_t { canonical, listed };

// By ValueId::index. No two values that see each other share a name: a name taken twice gets a number behind it, a used
// value without one becomes v0, v1, ... Unused outputs without a name stay without. Bodies side by side may reuse
// names. Made names are numbered in that order of nodes.
std::vector<std::string> value_names(const Graph& g, NodeOrder order = NodeOrder::canonical);

}  // namespace cameo::ir
