#include "ops/nn/deform_conv_expand.h"

#include "ops/computed.h"
#include "ops/nn/expansions.h"
#include "ops/nn/window.h"
#include "ops/on.h"
#include "ops/vision/planes.h"

namespace cameo::ops {

namespace {

// Every tap of every window as a point: [batch * offset groups, taps * windows] positions along axis `d`.
ValueId positions(On& on, const WindowAttrs& w, ValueId offsets, const std::vector<int64_t>& kernel, size_t d,
                  DType t) {
  const size_t n = kernel.size();
  std::vector<int64_t> in_tap, tap(n, 0);
  do in_tap.push_back(tap[d] * w.dilations[d] - w.pads[d]);
  while (next_index(tap, kernel));
  const auto rank = static_cast<int64_t>(n) + 2;  // [batch and group, taps, windows...]
  const ValueId starts =
      on.Mul(iota(on, size_of(on, offsets, static_cast<int64_t>(d) + 3)), on.int_scalar(w.strides[d]));
  const ValueId base =
      on.Add(along(on, on.ints(in_tap), 1, rank), along(on, starts, static_cast<int64_t>(d) + 2, rank));
  const ValueId moved = on.Gather(offsets, on.int_scalar(static_cast<int64_t>(d)), {.axis = 2});
  return on.Reshape(on.Add(settled(on, on.cast(base, t)), on.cast(moved, t)), on.ints({0, -1}));
}

}  // namespace

void expand_deform_conv(const op::DeformConv& a, Expand& e) {
  On& on = e.on;
  const ValueId x = e.in(0), weight = e.in(1);
  const auto w_shape = on.has_rank(weight) ? known_shape(on.shape(weight)) : std::nullopt;
  if (!w_shape || !ranks_known(e)) return e.refuse("the weight's sizes or the rank are not known");
  const std::vector<int64_t> kernel(w_shape->begin() + 2, w_shape->end());
  const auto n = static_cast<int64_t>(kernel.size()), taps = product(kernel);
  const int64_t outputs = (*w_shape)[0], channels = (*w_shape)[1] * a.group;
  const WindowAttrs w = window_attrs("NOTSET", a.strides, a.dilations, a.pads, false, kernel.size());
  constexpr int64_t most_taps = 1 << 20;
  if (taps > most_taps) return e.refuse("the kernel is too large to be written out");
  if (!w.problem.empty() || channels % a.offset_group || outputs % a.group)
    return e.refuse("its sizes and groups do not fit");
  const DType t = on.dtype(x) == DType::f64 ? DType::f64 : DType::f32;

  std::vector<ValueId> image{on.ints({-1, channels / a.offset_group})}, windows;
  for (int64_t i = 2; i < on.rank(x); ++i)
    image.push_back(size_of(on, x, i)), windows.push_back(size_of(on, e.in(2), i));
  const ValueId space = join_sizes(on, windows);
  const ValueId offsets = on.Reshape(e.in(2), join_sizes(on, {on.ints({-1, taps, n}), space}));
  Planes planes(on, on.Reshape(x, join_sizes(on, image)), t);
  std::vector<std::vector<TapValues>> points;
  for (size_t d = 0; d < kernel.size(); ++d)
    points.push_back(planes.linear_taps(positions(on, w, offsets, kernel, d, t), d));
  ValueId values = planes.sample(points);  // [batch and group, taps * windows, channels of the group]
  if (e.has(4))
    values = on.Mul(values,
                    on.Reshape(e.in(4), join_sizes(on, {on.Gather(on.Shape(values), on.ints({0, 1})), on.ints({1})})));
  const ValueId columns =
      on.Reshape(on.Transpose(values, {.perm = std::vector<int64_t>{0, 2, 1}}),
                 join_sizes(on, {size_of(on, x, 0), on.ints({a.group, channels / a.group * taps, -1})}));
  const ValueId matrix = on.Reshape(weight, on.ints({a.group, outputs / a.group, channels / a.group * taps}));
  ValueId y = on.Reshape(on.MatMul(matrix, columns), join_sizes(on, {size_of(on, x, 0), on.ints({outputs}), space}));
  if (e.has(3)) y = on.Add(y, along(on, e.in(3), 0, n + 1));
  e.replace({y});
}

}  // namespace cameo::ops
