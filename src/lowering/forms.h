// Forms that several lowerings share.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

struct Span {
  Dim start, end;  // 0 <= start <= end <= size
};
// Python's rule for a slice with positive step on an axis of `size`.
Span clamp_span(Lower& on, Dim size, const Opt<Dim>& start, const Opt<Dim>& end);
// One index, negative ones counted from the end.
Dim wrap_index(Lower& on, Dim size, Dim index);
// A place on an axis: below zero it counts from the end. Differences of sizes are taken as positive, and that is said.
Dim from_start(Lower& on, Dim v, Dim size);
V narrowed(Lower& on, V x, int64_t dim, Dim start, Dim length);
// A copy of `x` in which x[..., start:end:step, ...] = value.
V put_slice(Lower& on, V x, int64_t axis, Dim start, Dim end, int64_t step, V value);
V put_index(Lower& on, V x, int64_t axis, Dim index, V value);  // x.select(axis, index) = value
V expanded(Lower& on, V x, Dims sizes);                         // torch.expand: -1 keeps a size
// Sizes with one -1 solved, as view and reshape take them.
Dims solve_sizes(Lower& on, V x, Dims sizes);

enum class Reduce : uint8_t { sum, mean, max, min, prod, l1, l2, log_sum_exp, sum_square };
V reduce(Lower& on, Reduce kind, V x, const Ints& axes, bool keepdim);  // axes normalised; none gives x
V variance(Lower& on, V x, const Ints& axes, double correction, bool keepdim);
inline double correction_of(const Opt<Num>& c) {
  return c ? c->to_double() : 1.0;
}  // torch's argument `correction`; default: 1
V linear(Lower& on, V x, V weight, const Opt<V>& bias);
// Two sizes per axis in torch's order (last axis first) into ONNX's pads.
V matmul(Lower& on, V a, V b);  // torch.matmul's rule for ranks 1 and up is ONNX's

V vector_norm(Lower& on, V x, double p, const Ints& axes, bool keepdim);

V iota(Lower& on, Dim n);                                   // 0, 1, ... n - 1, int64
V flat(Lower& on, V x);                                     // as one axis
V moved(Lower& on, V x, const Ints& from, const Ints& to);  // torch.movedim
V reach(Lower& on, V along, int64_t axis, int64_t rank);    // a 1-D tensor laid along one axis of `rank`
// What a pool takes: a Pad of zeros before it pads with a negative zero. ONNX Runtime (1.31) takes a Pad of zeros into
// the pool. A MaxPool's own padding is minus infinity, so that it gives other numbers where all elements of a window
// are negative, and a pool whose padding is as large as its window does not load. It does not change a negative zero.
V for_pooling(Lower& on, V x);
V flags_any(Lower& on, V flags, int64_t axis);  // bools: is there one along the axis, which goes away
Dims broadcast_shapes(Dims a, Dims b);
// The size of an axis that decides how many nodes are written; throws "lower.unsupported-value" when it is not known.
int64_t known_size(Lower& on, V x, int64_t axis, std::string_view what);

}  // namespace cameo::lowering
