// What expansions write where an argument (an axis, a size, a count) is computed by the model: sizes as values, index
// vectors, branches and loops. Everything here exists from opset 9 on.
#pragma once

#include <functional>
#include <vector>

#include "ops/on.h"

namespace cameo::ops {

using Emit = std::function<ValueId(On&)>;

// If: both branches give one value, each emitted into a body of its own.
ValueId if_else(On& on, ValueId condition, const Emit& then, const Emit& otherwise);
// `f` applied to `x` if the condition holds. As a loop of at most one iteration: before opset 11 the branches of an If
// had to agree in shape.
ValueId when(On& on, ValueId condition, ValueId x, const std::function<ValueId(On&, ValueId)>& f);
// Loop: `body` gets the iteration number (0-d int64) and the carried values and gives the next ones. Their
// sizes may change, their element types may not. `trips` is int64 with one element. The last `stacked` values that the
// body gives are not carried ones: the loop gives them with a new first axis, one entry per iteration.
using LoopBody = std::function<std::vector<ValueId>(On&, ValueId i, const std::vector<ValueId>& carried)>;
std::vector<ValueId> repeat(On& on, ValueId trips, const std::vector<ValueId>& carried, const LoopBody& body,
                            size_t stacked = 0);

ValueId iota(On& on, ValueId count);                 // 0, 1, ... as int64; `count` has one element
ValueId size_of(On& on, ValueId v, int64_t axis);    // int64 of shape [1]; a constant where it is known
ValueId as_vector(On& on, ValueId v);                // of one element or a vector: int64, 1-D
ValueId element(On& on, ValueId vector, int64_t i);  // of shape [1]
ValueId at_least(On& on, ValueId v, ValueId least);  // of any numbers, elementwise
ValueId at_most(On& on, ValueId v, ValueId most);
ValueId modulo(On& on, ValueId v, ValueId by);  // of int64, with the sign of `by`

ValueId settled(On& on, ValueId v);                               // as a constant where inference knows it
ValueId join_sizes(On& on, const std::vector<ValueId>& parts);    // int64 vectors one after the other: a shape
ValueId clamped(On& on, ValueId v, ValueId least, ValueId most);  // of floats
// A vector along axis `axis` of a tensor of that rank, to broadcast over the others.
ValueId along(On& on, ValueId vector, int64_t axis, int64_t rank);

// Axes counted from either end, as numbers from 0: int64, 1-D.
ValueId from_front(On& on, ValueId axes, int64_t rank);
// Which of the axes 0 .. rank - 1 are listed in `axes` (int64, from the front): bool [rank].
ValueId axis_mask(On& on, ValueId axes, int64_t rank);
// Reshape to the sizes of `v` at the axes where `keep` (bool [rank]) is true.
ValueId reshape_to_kept(On& on, ValueId v, ValueId keep);
// One of f(0) ... f(rank - 1), by the axis that the model computes.
ValueId by_axis(On& on, ValueId axis, int64_t rank, const std::function<ValueId(On&, int64_t)>& f);

}  // namespace cameo::ops
