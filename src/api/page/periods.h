// Blocks that repeat in a list of nodes without modules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/page/tree.h"

namespace cameo::page {

struct Period {
  size_t first = 0, length = 0, times = 0;
};

// Stretches of `prints` that repeat at once, three times or more, from left to right; the widest cover wins. Blocks of
// fewer than three nodes are not worth a box.
std::vector<Period> periods(const std::vector<uint64_t>& prints);

// Nodes of the root that stand in no module get modules `block.0`, `block.1`, ... where they repeat. A stretch of the
// file's order is convex: a box around it makes no cycle.
void wrap_periods(Tree& tree);

}  // namespace cameo::page
