// Operands of nodes that expansions and older encodings read; an untrusted model may lack them.
#pragma once

#include <optional>

#include "ops/revision.h"

namespace cameo::ops {

// What is known of an operand; an empty fact where it is absent.
const Fact& input_fact(const Graph& g, NodeId n, size_t i);
// An axis of operand `i` as a number from 0. Refuses, and gives none, when the rank is unknown or the axis outside.
std::optional<int64_t> axis_of(Expand& e, int64_t axis, size_t i = 0);

}  // namespace cameo::ops
