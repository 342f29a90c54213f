// Which integer inputs a model uses as indices of axes that have one element.
#pragma once

#include <set>
#include <vector>

#include "ir/graph.h"

namespace cameo::runtime {

bool can_be_index(const Fact& f);  // i32 or i64

// Types of `g` are inferred for the sizes in question. Such inputs can be nothing but 0.
std::set<ValueId> inputs_that_index_one(const Graph& g, const std::vector<ValueId>& params);

}  // namespace cameo::runtime
