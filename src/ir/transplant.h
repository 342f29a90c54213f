// A body in another graph, with what it reads from around it.
#pragma once

#include <unordered_map>

#include "ir/clone.h"

namespace cameo::ir {

// As clone_body, into the main region of another graph over the same dims. `values`: what stands there for values of
// `source`, the region's inputs included; it gains what the copies of those inside are.
std::vector<ValueId> transplant_body(const Graph& source, RegionId from, Graph& g,
                                     std::unordered_map<ValueId, ValueId>& values);

}  // namespace cameo::ir
