// Whether a node is long enough for a team of threads.
#pragma once

#include "ir/graph.h"

namespace cameo::engine {

// Waking a team and waiting for its slowest thread takes some microseconds, and much longer where other programs have
// the processors. Operators that divide themselves (elementwise, normalization) are always worth it here: they count
// their own work.
bool worth_a_team(const Graph& g, NodeId n);

}  // namespace cameo::engine
