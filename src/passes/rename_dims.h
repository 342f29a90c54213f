// Sizes under other names.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

// In the types of all values. What is known of contents keeps the old names: do this last.
void substitute_dims(Graph& g, std::span<const Substitution> map);

// Throws use.rename-dim when no size of an input or output has the name `from`, telling those there are.
void rename_dims(Graph& g, const std::vector<std::pair<std::string, std::string>>& from_to);

}  // namespace cameo::passes
