#include "ops/vision/nms_expand.h"

#include <limits>

#include "ops/computed.h"
#include "ops/nn/expansions.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

constexpr DType f32 = DType::f32;

// Edges of boxes, all of one shape.
struct Edges {
  ValueId x0, y0, x1, y1;
  ValueId area(On& on) const { return on.Mul(on.Sub(x1, x0), on.Sub(y1, y0)); }
};

Edges edges_of(On& on, ValueId boxes, int64_t axis, bool centred) {
  const auto number = [&](int64_t i) { return on.Gather(boxes, on.int_scalar(i), {.axis = axis}); };
  const ValueId a = number(0), b = number(1), c = number(2), d = number(3);
  const auto least = [&](ValueId p, ValueId q) { return on.Min(std::vector{p, q}); };
  const auto most = [&](ValueId p, ValueId q) { return on.Max(std::vector{p, q}); };
  if (!centred) return {least(b, d), least(a, c), most(b, d), most(a, c)};
  const ValueId half = on.number(0.5, f32), w = on.Mul(c, half), h = on.Mul(d, half);
  return {on.Sub(a, w), on.Sub(b, h), on.Add(a, w), on.Add(b, h)};
}

// How much of their union two boxes share.
ValueId overlap(On& on, const Edges& a, const Edges& b) {
  const ValueId zero = on.number(0, f32);
  const auto side = [&](ValueId p0, ValueId p1, ValueId q0, ValueId q1) {
    return on.Sub(on.Min(std::vector{p1, q1}), on.Max(std::vector{p0, q0}));
  };
  const ValueId w = side(a.x0, a.x1, b.x0, b.x1), h = side(a.y0, a.y1, b.y0, b.y1), shared = on.Mul(w, h);
  const ValueId area_a = a.area(on), area_b = b.area(on), all = on.Sub(on.Add(area_a, area_b), shared);
  const auto positive = [&](ValueId v) { return on.Greater(v, zero); };
  const ValueId touches = on.And(on.And(positive(w), positive(h)), on.And(positive(area_a), positive(area_b)));
  return on.Where(touches, on.Div(shared, on.Where(touches, all, on.number(1, f32))), zero);
}

}  // namespace

void expand_non_max_suppression(const op::NonMaxSuppression& a, Expand& e) {
  On& on = e.on;
  if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
  const ValueId boxes = e.in(0), none = on.number(-std::numeric_limits<double>::infinity(), f32);
  const auto given = [&](size_t i) {
    return e.has(i) && !(e.fact(i).has_rank() && e.fact(i).rank() == 1 && e.fact(i).shape()[0].is(0));
  };
  if (!given(2)) return e.refuse("no number of boxes is asked for");
  const auto scalar = [&](ValueId v) { return on.Reshape(v, on.ints(std::vector<int64_t>{})); };
  const ValueId scores = on.Where(on.IsNaN(e.in(1)), none, e.in(1));
  const ValueId limit = given(3) ? scalar(e.in(3)) : on.number(0, f32);
  const ValueId all = on.Not(on.Less(scores, scores));
  const ValueId alive = given(4) ? on.Greater(scores, scalar(e.in(4))) : all;

  const ValueId count = size_of(on, boxes, 1), batches = size_of(on, boxes, 0), classes = size_of(on, scores, 1);
  const ValueId trips = at_least(on, at_most(on, as_vector(on, e.in(2)), count), on.ints({0}));
  const bool centred = a.center_point_box != 0;
  const Edges every = edges_of(on, on.Unsqueeze(boxes, on.ints({1})), 3, centred);  // [batch, 1, count]
  const ValueId rows = on.Reshape(boxes, on.ints({-1, 4}));
  const ValueId first_row = on.Reshape(on.Mul(iota(on, batches), count), on.ints({-1, 1, 1}));
  const ValueId places = iota(on, count);

  const auto results = repeat(
      on, trips, {on.cast(alive, f32)},
      [&](On& o, ValueId, const std::vector<ValueId>& carried) {
        const ValueId half = o.number(0.5, f32), left = o.Greater(carried[0], half);
        const ValueId best = o.ReduceMax(o.Where(left, scores, none), o.ints({2}));
        const ValueId candidates = o.And(left, o.Not(o.Less(scores, best)));
        const ValueId pick = o.ArgMax(o.cast(candidates, f32), {.axis = 2});  // [batch, class, 1]
        const ValueId found = o.Greater(o.ReduceMax(carried[0], o.ints({2}), {.keepdims = 0}), half);
        const ValueId box = o.Gather(rows, o.Add(pick, first_row));  // [batch, class, 1, 4]
        const ValueId covered = o.Greater(overlap(o, edges_of(o, box, 3, centred), every), limit);
        const ValueId gone = o.Or(covered, o.Equal(places, pick));
        return std::vector{o.Where(gone, o.number(0, f32), carried[0]), o.Squeeze(pick, o.ints({2})), found};
      },
      2);

  // [step, batch, class] to [batch, class, step], then the rows that were found.
  const auto steps_last = [&](ValueId v) { return on.Transpose(v, {.perm = std::vector<int64_t>{1, 2, 0}}); };
  const ValueId pick = steps_last(results[1]), shape = on.Shape(pick);
  const auto column = [&](ValueId v) { return on.Reshape(on.Expand(v, shape), on.ints({-1, 1})); };
  const ValueId b = on.Reshape(iota(on, batches), on.ints({-1, 1, 1})),
                c = on.Reshape(iota(on, classes), on.ints({-1, 1}));
  const ValueId table = on.Concat(std::vector{column(b), column(c), on.Reshape(pick, on.ints({-1, 1}))}, {.axis = 1});
  e.replace({on.Compress(table, on.Reshape(steps_last(results[2]), on.ints({-1})), {.axis = 0})});
}

}  // namespace cameo::ops
