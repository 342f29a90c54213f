// Which edges of the program a run reached, kept where the parent sees them even after the child crashed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace attack {

// How many edges the compiler counts; 0 in a build without coverage.
size_t edge_count();

// Puts the counters into memory that children share. `file` keeps the edges seen so far, for all servers at once and
// for the next session; an empty name keeps none. Called once, before the first fork.
void share_counters(const char* file);

void clear_counters();

// How many edges the last run reached that no run before it had; they are remembered.
uint32_t take_new_edges();
uint32_t edges_seen();

}  // namespace attack
