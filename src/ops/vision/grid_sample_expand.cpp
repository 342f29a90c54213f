#include "ops/vision/grid_sample_expand.h"

#include "ops/computed.h"
#include "ops/nn/expansions.h"
#include "ops/on.h"
#include "ops/vision/planes.h"

namespace cameo::ops {

namespace {

class Sampler {
 public:
  Sampler(On& on, const op::GridSample& a, Planes& planes, DType t) : on_(on), a_(a), planes_(planes), t_(t) {}

  // The taps along one axis for normalised coordinates [batch, points].
  std::vector<TapValues> taps(ValueId normalised, size_t axis) {
    const ValueId x =
        folded(a_.mode == "nearest" ? on_.Round(position(normalised, axis)) : position(normalised, axis), axis);
    if (a_.mode == "nearest") return {placed(x, axis, {})};
    const ValueId before = on_.Floor(x), part = on_.Sub(x, before);
    if (a_.mode == "linear")
      return {placed(before, axis, on_.Sub(number(1), part)), placed(on_.Add(before, number(1)), axis, part)};
    std::vector<TapValues> out;
    const ValueId rest = on_.Sub(number(1), part);
    const ValueId weights[] = {outer(on_.Add(part, number(1))), inner(part), inner(rest),
                               outer(on_.Add(rest, number(1)))};
    for (int i = 0; i < 4; ++i) out.push_back(placed(on_.Add(before, number(i - 1)), axis, weights[i]));
    return out;
  }

 private:
  static constexpr double k = -0.75;  // the cubic's coefficient
  ValueId number(double v) { return on_.number(v, t_); }
  ValueId scaled(ValueId v, double by) { return on_.Mul(v, number(by)); }
  ValueId plus(ValueId v, double by) { return on_.Add(v, number(by)); }
  // ((k d - 5k) d + 8k) d - 4k  and  ((k + 2) d - (k + 3)) d^2 + 1
  ValueId outer(ValueId d) { return plus(on_.Mul(plus(on_.Mul(plus(scaled(d, k), -5 * k), d), 8 * k), d), -4 * k); }
  ValueId inner(ValueId d) { return plus(on_.Mul(plus(scaled(d, k + 2), -(k + 3)), on_.Mul(d, d)), 1); }

  // In elements. What is not a number lies far outside.
  ValueId position(ValueId n, size_t axis) {
    const ValueId size = planes_.size(axis), shifted = plus(n, 1);
    const ValueId x = a_.align_corners ? on_.Mul(scaled(shifted, 0.5), plus(size, -1))
                                       : scaled(plus(on_.Mul(shifted, size), -1), 0.5);
    return clamped(on_, on_.Where(on_.IsNaN(x), number(-1e9), x), number(-1e9), number(1e9));
  }

  // Inside the image as far as the padding mode brings it there.
  ValueId folded(ValueId x, size_t axis) {
    if (a_.padding_mode == "border") return clamped(on_, x, number(0), plus(planes_.size(axis), -1));
    if (a_.padding_mode == "reflection") return reflected(x, axis);
    return x;
  }

  // A triangle wave between the edges; what lies between them stays as it is.
  ValueId reflected(ValueId x, size_t axis) {
    const ValueId lo = number(a_.align_corners ? 0 : -0.5), hi = plus(planes_.size(axis), a_.align_corners ? -1 : -0.5);
    const ValueId range = on_.Max(std::vector{on_.Sub(hi, lo), number(1e-6)}), twice = scaled(range, 2);
    const ValueId from_lo = on_.Sub(x, lo),
                  phase = on_.Sub(from_lo, on_.Mul(on_.Floor(on_.Div(from_lo, twice)), twice));
    const ValueId wave = on_.Add(lo, on_.Sub(range, on_.Abs(on_.Sub(phase, range))));
    return on_.Where(on_.Or(on_.Less(x, lo), on_.Greater(x, hi)), wave, x);
  }

  TapValues placed(ValueId i, size_t axis, ValueId weight) {
    if (a_.padding_mode == "zeros") return planes_.zero_outside(i, axis, weight);
    // Reflected numbers of elements are whole up to rounding.
    if (a_.padding_mode == "reflection") i = on_.Floor(plus(reflected(i, axis), 1e-3));
    return {clamped(on_, i, number(0), plus(planes_.size(axis), -1)), {}, weight};
  }

  On& on_;
  const op::GridSample& a_;
  Planes& planes_;
  DType t_;
};

}  // namespace

void expand_grid_sample(const op::GridSample& a, Expand& e) {
  On& on = e.on;
  const ValueId x = e.in(0);
  if (!ranks_known(e)) return e.refuse("the rank is not known");
  if (a.mode != "nearest" && !is_float(on.dtype(x))) return e.refuse("interpolation of numbers that are not floats");
  const int64_t spatial = on.rank(x) - 2;
  const DType t = on.dtype(e.in(1)) == DType::f64 ? DType::f64 : DType::f32;
  const ValueId grid = on.cast(e.in(1), t), points = on.Reshape(grid, on.ints({0, -1, spatial}));
  Planes planes(on, x, t);
  Sampler sampler(on, a, planes, t);
  std::vector<std::vector<TapValues>> taps;
  for (int64_t d = 0; d < spatial; ++d)
    taps.push_back(
        sampler.taps(on.Gather(points, on.int_scalar(spatial - 1 - d), {.axis = 2}), static_cast<size_t>(d)));
  const ValueId y = on.Transpose(planes.sample(taps), {.perm = std::vector<int64_t>{0, 2, 1}});
  std::vector<ValueId> shape{on.ints({0, 0})};
  for (int64_t i = 1; i <= spatial; ++i) shape.push_back(size_of(on, grid, i));
  e.replace({on.Reshape(y, join_sizes(on, shape))});
}

}  // namespace cameo::ops
