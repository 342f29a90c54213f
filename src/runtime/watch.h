// Intermediate values by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace cameo::runtime {

bool matches(std::string_view text, std::string_view pattern);  // * and ?
// The same of a node's name, or of its first result's.
bool matches(const Graph& g, NodeId n, std::string_view pattern);

// The values of the main graph whose name, or whose node's name, matches one of the patterns, in order of computation.
// Throws run.no-match for a pattern that matches nothing.
std::vector<ValueId> matching_values(const Graph& g, const std::vector<std::string>& patterns);

}  // namespace cameo::runtime
