// What shape rules and expansions ask of operands, said once.
#pragma once

#include <optional>
#include <string_view>

#include "ir/graph.h"

namespace cameo {

class Infer;
class Expand;

// An input that is one number: a scalar, or one element of any rank.
void need_one_element(const Infer& c, size_t i, std::string_view what);
// A shape that is repeated over another and does not enlarge it.
void need_fit(const Infer& c, const Shape& small, const Shape& whole, std::string_view what);

// What is known of an operand; an empty fact where it is absent.
const Fact& input_fact(const Graph& g, NodeId n, size_t i);
// An axis of operand `i` as a number from 0. Refuses, and gives none, when the rank is unknown or the axis outside.
std::optional<int64_t> axis_of(Expand& e, int64_t axis, size_t i = 0);

}  // namespace cameo
