// Modules that compute the same, one after the other, become one stack; modules of one part become that part.
#pragma once

#include <cstdint>

#include "api/page/tree.h"

namespace cameo::page {

uint64_t mixed(uint64_t hash, uint64_t with);
// Also counts the nodes of every item. Items that are merged into others stay in the list, without a parent.
void stack_repeats(Tree& tree);

}  // namespace cameo::page
