// How much there is to do in a node: whether a team of threads is worth waiting for.
#pragma once

#include "engine/compiler.h"

namespace cameo::engine {

// Waking a team and waiting for its slowest thread takes some microseconds, and much longer where other programs have
// the processors. Operators that divide themselves (elementwise, normalization) are always worth it here: they count
// their own work.
bool worth_a_team(const Compiler& c, NodeId n);

}  // namespace cameo::engine
