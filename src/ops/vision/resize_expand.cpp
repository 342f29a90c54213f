#include "ops/vision/resize_expand.h"

#include <cmath>

#include "ops/computed.h"
#include "ops/nn/expansions.h"
#include "ops/on.h"
#include "support/error.h"

namespace cameo::ops {

namespace {

// One axis: sizes and scale as values of one element, positions of the output's elements in the input.
struct AxisPlan {
  int64_t axis;
  ValueId in, last, out, scale;  // f32, f32, int64, f32
  ValueId at;                    // f32 [out]
};

class Resizer {
 public:
  Resizer(On& on, const op::Resize& a, Expand& e) : on_(on), a_(a), e_(e) {}

  ValueId resized(ValueId x) {
    const int64_t rank = on_.rank(x);
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
    if (a_.axes) axes = *a_.axes;
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    const auto plans = planned(x, axes);
    const DType stored = on_.dtype(x), wide = stored == DType::f64 ? DType::f64 : DType::f32;
    if (a_.mode != "nearest") x = on_.cast(x, wide);
    for (size_t i = 0; i < plans.size(); ++i)
      if (!unchanged(plans[i])) x = along_axis(x, plans[i]);
    return a_.mode == "nearest" ? x : settled_to(x, stored);
  }

 private:
  ValueId number(double v) { return on_.number(v, DType::f32); }
  ValueId plus(ValueId v, double by) { return on_.Add(v, number(by)); }
  ValueId times(ValueId v, double by) { return on_.Mul(v, number(by)); }
  bool crops() const { return a_.coordinate_transformation_mode == "tf_crop_and_resize"; }

  bool unchanged(const AxisPlan& p) {
    const Tensor* scale = on_.fact(p.scale).tensor();
    return scale && scale->double_at(0) == 1 && !crops();
  }

  std::vector<AxisPlan> planned(ValueId x, const std::vector<int64_t>& axes) {
    const bool by_size = e_.has(3) && !(e_.fact(3).has_rank() && e_.fact(3).rank() == 1 && e_.fact(3).shape()[0].is(0));
    std::vector<AxisPlan> plans;
    for (size_t i = 0; i < axes.size(); ++i) {
      AxisPlan p{.axis = axes[i],
                 .in = on_.cast(size_of(on_, x, axes[i]), DType::f32),
                 .last = {},
                 .out = {},
                 .scale = {},
                 .at = {}};
      p.in = settled(on_, p.in);
      p.last = settled(on_, plus(p.in, -1));
      if (by_size) {
        p.out = element(on_, as_vector(on_, e_.in(3)), static_cast<int64_t>(i));
        p.scale = on_.Div(on_.cast(p.out, DType::f32), p.in);
      } else {
        p.scale = on_.Gather(e_.in(2), on_.ints({static_cast<int64_t>(i)}));
        p.out = on_.cast(on_.Floor(on_.Mul(p.in, p.scale)), DType::i64);
      }
      plans.push_back(p);
    }
    if (by_size && a_.keep_aspect_ratio_policy != "stretch") keep_ratio(plans);
    for (size_t i = 0; i < plans.size(); ++i) {
      plans[i].scale = settled(on_, plans[i].scale);
      plans[i].out = settled(on_, plans[i].out);
      plans[i].at = settled(on_, positions(plans[i], i, plans.size()));
    }
    return plans;
  }

  void keep_ratio(std::vector<AxisPlan>& plans) {
    std::vector<ValueId> scales;
    for (const AxisPlan& p : plans) scales.push_back(p.scale);
    const ValueId scale = scales.size() == 1                            ? scales[0]
                          : a_.keep_aspect_ratio_policy == "not_larger" ? on_.Min(scales)
                                                                        : on_.Max(scales);
    for (AxisPlan& p : plans) {
      p.scale = scale;
      p.out = on_.cast(on_.Floor(plus(on_.Mul(scale, p.in), 0.5)), DType::i64);
    }
  }

  // Division that gives `otherwise` where the divisor is 0.
  ValueId divided(ValueId v, ValueId by, ValueId otherwise) {
    const ValueId nonzero = on_.Greater(on_.Abs(by), number(0));
    return on_.Where(nonzero, on_.Div(v, on_.Where(nonzero, by, number(1))), otherwise);
  }

  ValueId positions(const AxisPlan& p, size_t i, size_t count) {
    const std::string& mode = a_.coordinate_transformation_mode;
    const ValueId x = on_.cast(iota(on_, p.out), DType::f32), gaps = plus(on_.Mul(p.scale, p.in), -1);
    const ValueId centred = plus(on_.Div(plus(x, 0.5), p.scale), -0.5);
    if (mode == "asymmetric") return on_.Div(x, p.scale);
    if (mode == "align_corners") return divided(on_.Mul(x, p.last), gaps, number(0));
    if (mode == "pytorch_half_pixel") return on_.Where(on_.Greater(on_.Abs(gaps), number(0)), centred, number(-0.5));
    if (mode == "half_pixel_symmetric") {
      const ValueId adjusted = on_.Div(on_.cast(p.out, DType::f32), on_.Mul(p.scale, p.in));
      return on_.Add(centred, on_.Mul(times(p.in, 0.5), on_.Sub(number(1), adjusted)));
    }
    if (!crops()) return centred;
    const ValueId roi = on_.cast(e_.in(1), DType::f32);
    const ValueId start = on_.Gather(roi, on_.ints({static_cast<int64_t>(i)})),
                  end = on_.Gather(roi, on_.ints({static_cast<int64_t>(i + count)}));
    const ValueId length = on_.Mul(on_.Sub(end, start), p.last);
    return on_.Add(on_.Mul(start, p.last), divided(on_.Mul(x, length), gaps, times(length, 0.5)));
  }

  ValueId along_axis(ValueId x, const AxisPlan& p) {
    ValueId y = a_.mode == "nearest" ? on_.Gather(x, index(nearest(p.at), p), {.axis = p.axis})
                : a_.antialias       ? smoothed(x, p)
                                     : interpolated(x, p);
    if (!crops()) return y;
    const ValueId outside = on_.Or(on_.Less(p.at, number(0)), on_.Greater(p.at, p.last));
    return on_.Where(along(on_, outside, p.axis, on_.rank(x)),
                     on_.number(static_cast<double>(a_.extrapolation_value), on_.dtype(x)), y);
  }

  ValueId nearest(ValueId at) {
    if (a_.nearest_mode == "floor") return on_.Floor(at);
    if (a_.nearest_mode == "ceil") return on_.Ceil(at);
    return a_.nearest_mode == "round_prefer_ceil" ? on_.Floor(plus(at, 0.5)) : on_.Ceil(plus(at, -0.5));
  }

  ValueId index(ValueId position, const AxisPlan& p) {
    return settled(on_, on_.cast(clamped(on_, position, number(0), p.last), DType::i64));
  }

  // The weight of an element at this distance.
  ValueId weight(ValueId distance) {
    const ValueId d = on_.Abs(distance);
    if (a_.mode == "linear") return on_.Max(std::vector{on_.Sub(number(1), d), number(0)});
    const double k = static_cast<double>(a_.cubic_coeff_a);
    const ValueId near = plus(on_.Mul(plus(times(d, k + 2), -(k + 3)), on_.Mul(d, d)), 1);
    const ValueId far = plus(on_.Mul(plus(on_.Mul(plus(times(d, k), -5 * k), d), 8 * k), d), -4 * k);
    return on_.Where(on_.Greater(d, number(1)), on_.Where(on_.Less(d, number(2)), far, number(0)), near);
  }

  ValueId where_inside(ValueId w, ValueId position, const AxisPlan& p) {
    if (!a_.exclude_outside) return w;
    return on_.Where(on_.Or(on_.Less(position, number(0)), on_.Greater(position, p.last)), number(0), w);
  }

  ValueId interpolated(ValueId x, const AxisPlan& p) {
    const ValueId before = on_.Floor(p.at);
    std::vector<ValueId> places, weights;
    for (int i = a_.mode == "linear" ? 0 : -1; i < (a_.mode == "linear" ? 2 : 3); ++i) {
      places.push_back(plus(before, i));
      weights.push_back(where_inside(weight(on_.Sub(p.at, places.back())), places.back(), p));
    }
    ValueId total = weights[0];
    for (size_t i = 1; i < weights.size(); ++i) total = on_.Add(total, weights[i]);
    ValueId sum;
    for (size_t i = 0; i < weights.size(); ++i) {
      const ValueId share = settled(on_, a_.exclude_outside ? on_.Div(weights[i], total) : weights[i]);
      const ValueId part = on_.Mul(on_.Gather(x, index(places[i], p), {.axis = p.axis}),
                                   along(on_, on_.cast(share, on_.dtype(x)), p.axis, on_.rank(x)));
      sum = sum ? on_.Add(sum, part) : part;
    }
    return sum;
  }

  // Shrinking with a filter as wide as the step: all elements, weighted, with the edges repeated beyond them.
  ValueId smoothed(ValueId x, const AxisPlan& p) {
    const int64_t rank = on_.rank(x);
    const ValueId squeeze = on_.Min(std::vector{p.scale, number(1)});
    const ValueId reach = on_.cast(on_.Ceil(on_.Div(number(a_.mode == "cubic" ? 2 : 1), squeeze)), DType::i64);
    const ValueId count = on_.Add(on_.cast(p.in, DType::i64), on_.Mul(reach, on_.ints({2})));
    const ValueId places = on_.cast(on_.Sub(iota(on_, count), reach), DType::f32);  // [count]
    const ValueId distance = on_.Mul(on_.Sub(places, on_.Reshape(p.at, on_.ints({-1, 1}))), squeeze);
    const ValueId all = weight(distance);  // [out, count]
    const ValueId shares = on_.Div(all, on_.ReduceSum(all, on_.ints({1})));
    ValueId kept = where_inside(shares, places, p);
    if (a_.exclude_outside) kept = on_.Div(kept, on_.ReduceSum(kept, on_.ints({1})));
    kept = settled(on_, on_.cast(kept, on_.dtype(x)));
    // [..., 1, count] * [out, count] with the axis last, then back. A weight of 0 hides what it weighs, infinities too.
    std::vector<int64_t> to_last, back(static_cast<size_t>(rank));
    for (int64_t i = 0; i < rank; ++i)
      if (i != p.axis) to_last.push_back(i);
    to_last.push_back(p.axis);
    for (size_t i = 0; i < to_last.size(); ++i) back[static_cast<size_t>(to_last[i])] = static_cast<int64_t>(i);
    const ValueId elements = on_.Gather(on_.Transpose(x, {.perm = to_last}), index(places, p), {.axis = rank - 1});
    const ValueId wide = on_.Unsqueeze(elements, on_.ints({rank - 1}));
    const ValueId used = on_.Greater(on_.Abs(kept), on_.number(0, on_.dtype(x)));
    const ValueId parts = on_.Where(used, on_.Mul(wide, kept), on_.number(0, on_.dtype(x)));
    return on_.Transpose(on_.ReduceSum(parts, on_.ints({rank}), {.keepdims = 0}), {.perm = back});
  }

  // Interpolated values rounded and clamped to an integer type.
  ValueId settled_to(ValueId x, DType t) {
    if (!is_int(t)) return on_.cast(x, t);
    const double lo = is_signed_int(t) ? -std::ldexp(1, bits(t) - 1) : 0,
                 hi = std::ldexp(1, bits(t) - is_signed_int(t)) - 1;
    return on_.cast(clamped(on_, on_.Round(x), on_.number_like(lo, x), on_.number_like(hi, x)), t);
  }

  On& on_;
  const op::Resize& a_;
  Expand& e_;
};

}  // namespace

void expand_resize(const op::Resize& a, Expand& e) {
  if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
  const DType t = e.dtype(0);
  if (a.mode != "nearest" && !is_float(t) && !(is_int(t) && bits(t) <= 16))
    return e.refuse(cat("interpolation of ", name(t), " in floats"));
  if (!e.has(2) && !e.has(3)) return e.refuse("neither scales nor sizes are given");
  e.replace({Resizer(e.on, a, e).resized(e.in(0))});
}

}  // namespace cameo::ops
