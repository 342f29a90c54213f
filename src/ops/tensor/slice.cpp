// Slice: a window of an axis, with a step.
#include <algorithm>
#include <numeric>
#include <utility>

#include "ops/eval.h"
#include "ops/computed.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/tensor/contents.h"

namespace cameo::ops {

namespace {

constexpr int64_t beyond = INT32_MAX;  // writers say "to the end" with any number from here on

struct Window {
  int64_t start, step, count;
};

Window window(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (step == INT64_MIN) step = -INT64_MAX;
  const int64_t last = step > 0 ? size : size - 1, before = step > 0 ? 0 : -1;
  const auto place = [&](int64_t at, int64_t least) {
    return std::clamp(at < 0 ? std::max(at, -size - 1) + size : at, least, std::max(least, last));
  };
  if (size == 0) return {0, step, 0};
  start = place(start, 0), end = place(end, before);
  const int64_t span = step > 0 ? end - start : start - end, stride = step > 0 ? step : -step;
  return {start, step, span <= 0 ? 0 : (span - 1) / stride + 1};
}

// Sizes compared by what is known about them, else as an expression.
Dim least(const DimFacts& facts, Dim a, Dim b) {
  if (facts.less_equal(a, b) == Answer::yes) return a;
  return facts.less_equal(b, a) == Answer::yes ? b : min(a, b);
}
Dim most(const DimFacts& facts, Dim a, Dim b) {
  if (facts.less_equal(a, b) == Answer::yes) return b;
  return facts.less_equal(b, a) == Answer::yes ? a : max(a, b);
}

// Where a start or end lies between `low` and `high`; nullopt when it may count from either side.
std::optional<Dim> place_of(const DimFacts& facts, Dim size, Dim at, Dim low, Dim high) {
  if (at.is_literal() && at.literal() >= beyond) return high;
  if (at.is_literal() && at.literal() <= -beyond) return low;
  const DimRange range = facts.range(at);
  if (range.hi && *range.hi < 0) return most(facts, size + at, low);
  if (range.lo && *range.lo >= 0) return least(facts, at, high);
  // All but the last: on an empty axis that is -1, which counts from the back and is clamped all the same.
  if (at == size - Dim(int64_t{1})) return most(facts, at, low);
  return std::nullopt;
}

Dim sliced_size(Infer& c, Dim size, Dim start, Dim end, int64_t step) {
  const DimFacts& facts = c.graph().facts;
  if (size.is_literal() && start.is_literal() && end.is_literal())
    return window(size.literal(), start.literal(), end.literal(), step).count;
  if (step == INT64_MIN) return c.fresh();
  const Dim zero, one(int64_t{1}), stride(step > 0 ? step : -step);
  const Dim low = step > 0 ? zero : -one, high = step > 0 ? size : size - one;
  const auto from = place_of(facts, size, start, low, high), to = place_of(facts, size, end, low, high);
  if (!from || !to) return c.fresh();
  const Dim span = facts.simplify(step > 0 ? *to - *from : *from - *to);
  return most(facts, stride.is(1) ? span : ceil_div(span, stride), zero);
}

struct Slice : Rules<op::Slice> {
  static void infer(const op::Slice&, Infer& c) {
    const auto starts = c.ints(1), ends = c.ints(2);
    const auto steps = c.literal_ints(4);
    const auto axes = axes_of(c);
    for (const size_t i : {1, 2, 3, 4})
      if (c.has(i) && c.has_rank(i) && c.rank(i) != 1)
        c.fail("infer.slice", cat("input ", i, " has rank ", c.rank(i), ": a list is wanted"));
    if (!axes) return c.out(0, c.fresh_shape(c.rank(0)));
    for (const size_t i : {1, 2, 4})
      if (const auto n = c.length(i); n && *n != static_cast<int64_t>(axes->size()))
        c.fail("infer.slice", cat("input ", i, " has ", *n, " elements for ", axes->size(), " axes"));
    const size_t count = axes->size();
    if ((starts && starts->size() != count) || (ends && ends->size() != count) || (steps && steps->size() != count))
      c.fail("infer.slice", cat("starts, ends and steps must have ", count, " elements"));
    Shape out = c.shape(0);
    for (size_t i = 0; i < axes->size(); ++i) {
      Dim& d = out[static_cast<size_t>((*axes)[i])];
      const int64_t step = steps ? (*steps)[i] : 1;
      if (step == 0) c.fail("infer.slice", "a step of 0");
      d = starts && ends && (steps || !c.has(4)) ? sliced_size(c, d, (*starts)[i], (*ends)[i], step) : c.fresh();
    }
    c.out(0, out);
    move_contents(c);
  }

  static std::optional<std::vector<int64_t>> axes_of(Infer& c) {
    if (c.has(3)) {
      const auto given = c.literal_ints(3);
      return given ? std::optional(c.axes(*given, c.rank(0))) : std::nullopt;
    }
    const auto length = c.length(1);
    if (!length) return std::nullopt;
    if (*length > c.rank(0)) c.fail("infer.slice", cat(*length, " starts for an input of rank ", c.rank(0)));
    std::vector<int64_t> axes(static_cast<size_t>(*length));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }

  static void eval(const op::Slice&, Eval& k) {
    const Tensor& x = k.in(0);
    const auto starts = k.ints(1), ends = k.ints(2);
    const auto steps = k.has(4) ? k.ints(4) : std::vector<int64_t>(starts.size(), 1);
    std::vector<int64_t> axes(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (k.has(3)) axes = k.ints(3);
    if (ends.size() != starts.size() || steps.size() != starts.size() || axes.size() != starts.size())
      k.fail("eval.slice", "starts, ends, axes and steps differ in length");
    auto shape = x.shape(), strides = row_major_strides(shape);
    int64_t first = 0;
    std::vector<char> sliced(shape.size(), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const auto axis = static_cast<size_t>(k.axis(axes[i], x.rank()));
      if (steps[i] == 0) k.fail("eval.slice", "a step of 0");
      if (std::exchange(sliced[axis], char{1})) k.fail("eval.slice", cat("axis ", axis, " is sliced twice"));
      const Window w = window(x.shape()[axis], starts[i], ends[i], steps[i]);
      first += w.start * strides[axis];
      if (w.count > 1) strides[axis] *= w.step;  // a step past the end must not overflow
      shape[axis] = w.count;
    }
    k.out(0, element_count(shape) ? strided(x, shape, strides, first) : zeros(x.dtype(), shape));
  }

  static void down_to_attributes(Downgrade& d) {
    if (const auto steps = d.constant(4)) {
      const auto numbers = steps->to_ints();
      if (std::any_of(numbers.begin(), numbers.end(), [](int64_t s) { return s != 1; }))
        d.refuse("Slice had no steps there");
      d.set_input(4, {});
    }
    d.input_to_ints(3, "axes");
    d.input_to_ints(2, "ends");
    d.input_to_ints(1, "starts");
    d.nonnegative_axes("axes");
  }

  // Bounds and steps that the model computes: the rows to take are worked out, whichever way the step goes.
  static ValueId gather_window(On& on, ValueId x, int64_t axis, ValueId start, ValueId end, ValueId step) {
    const ValueId zero = on.ints({0}), one = on.ints({1}), size = size_of(on, x, axis);
    const ValueId forward = on.Greater(step, zero);
    const ValueId last = on.Where(forward, size, on.Sub(size, one)), before = on.Where(forward, zero, on.ints({-1}));
    const auto place = [&](ValueId at, ValueId least) {
      return at_most(on, at_least(on, on.Where(on.Less(at, zero), on.Add(at, size), at), least), last);
    };
    const ValueId from = place(start, zero), rounding = on.Sub(step, on.Where(forward, one, on.ints({-1})));
    const ValueId count = at_least(on, on.Div(on.Add(on.Sub(place(end, before), from), rounding), step), zero);
    return on.Gather(x, on.Add(from, on.Mul(iota(on, count), step)), {.axis = axis});
  }

  static void expand_computed(Expand& e) {
    On& on = e.on;
    const Fact& starts = e.fact(1);
    const auto count = starts.has_rank() && starts.rank() == 1 ? starts.shape()[0].known() : std::nullopt;
    if (!e.fact(0).has_rank() || !count)
      return e.refuse("a Slice whose rank or axes are known only when the model runs");
    const int64_t rank = e.fact(0).rank();
    const auto axes = e.has(3) ? e.graph.constant(e.in(3)) : std::nullopt;
    ValueId bounds[3] = {
        as_vector(on, e.in(1)), as_vector(on, e.in(2)),
        e.has(4) ? as_vector(on, e.in(4)) : on.ints(std::vector<int64_t>(static_cast<size_t>(*count), 1))};
    std::vector<int64_t> order;
    for (int64_t i = 0; i < *count; ++i) order.push_back(axes ? axes->int_at(i) + (axes->int_at(i) < 0 ? rank : 0) : i);
    if (e.has(3) && !axes) {
      // Bounds for some axes become bounds for all.
      const ValueId places = from_front(on, e.in(3), rank);
      const int64_t whole[3] = {0, INT64_MAX, 1};
      for (size_t i = 0; i < 3; ++i)
        bounds[i] =
            on.ScatterElements(on.ints(std::vector<int64_t>(static_cast<size_t>(rank), whole[i])), places, bounds[i]);
      order.resize(static_cast<size_t>(rank));
      std::iota(order.begin(), order.end(), 0);
    }
    ValueId x = e.in(0);
    for (size_t i = 0; i < order.size(); ++i) {
      const auto n = static_cast<int64_t>(i);
      x = gather_window(on, x, order[i], element(on, bounds[0], n), element(on, bounds[1], n),
                        element(on, bounds[2], n));
    }
    e.replace({x});
  }
  static bool is_computed(const Graph& g, NodeId n) {
    for (size_t i = 1; i < 5; ++i)
      if (g.input(n, i) && !g.is_constant(g.input(n, i))) return true;
    return false;
  }

  // A stepped slice by a Gather of the rows it takes.
  static void expand_steps(Expand& e) {
    const Graph& g = e.graph;
    const auto starts = g.constant(e.in(1)), ends = g.constant(e.in(2)), steps = g.constant(e.in(4));
    const auto axes = e.has(3) ? g.constant(e.in(3)) : std::nullopt;
    if (!starts || !ends || !steps || (e.has(3) && !axes) || !e.fact(0).has_rank())
      return e.refuse("a Slice with steps that the model computes");
    ValueId x = e.in(0);
    for (int64_t i = 0; i < starts->count(); ++i) {
      int64_t axis = axes ? axes->int_at(i) : i;
      axis += axis < 0 ? e.fact(0).rank() : 0;
      const Dim size = e.fact(0).shape()[static_cast<size_t>(axis)];
      if (steps->int_at(i) == 1) {
        x = e.on.Slice(x, e.on.ints({starts->int_at(i)}), e.on.ints({ends->int_at(i)}), e.on.ints({axis}));
        continue;
      }
      if (!size.is_literal()) return e.refuse("a Slice with steps along an axis of unknown size");
      const Window w = window(size.literal(), starts->int_at(i), ends->int_at(i), steps->int_at(i));
      std::vector<int64_t> rows;
      for (int64_t r = 0; r < w.count; ++r) rows.push_back(w.start + r * w.step);
      x = e.on.Gather(x, e.on.ints(rows), {.axis = axis});
    }
    e.replace({x});
  }

  static bool has_steps(const Graph& g, NodeId n) {
    if (!g.input(n, 4)) return false;
    const auto steps = g.constant(g.input(n, 4));
    if (!steps) return true;
    const auto numbers = steps->to_ints();
    return std::any_of(numbers.begin(), numbers.end(), [](int64_t s) { return s != 1; });
  }

  static bool steps_into_unknown(const Graph& g, NodeId n) {
    const Fact& x = g[g.input(n, 0)].fact;
    return has_steps(g, n) && x.has_rank() && !known_shape(x.shape());
  }

  // Opset 10 took the axes as an input already but did not let them count from the back.
  static void expand_axes(Expand& e) {
    if (!e.fact(0).has_rank()) return e.refuse("an axis counts from the back of a tensor of unknown rank");
    auto axes = e.graph.constant(e.in(3))->to_ints();
    for (int64_t& a : axes) a += a < 0 ? e.fact(0).rank() : 0;
    e.replace({e.on.Slice(e.in(0), e.in(1), e.in(2), e.on.ints(axes), e.in(4))});
  }
  static bool has_negative_axes(const Graph& g, NodeId n) {
    const auto axes = g.input(n, 3) ? g.constant(g.input(n, 3)) : std::nullopt;
    if (!axes) return false;
    const auto numbers = axes->to_ints();
    return std::any_of(numbers.begin(), numbers.end(), [](int64_t a) { return a < 0; });
  }

  static constexpr Revision revisions[] = {
      {10, [](Upgrade& u) { u.attr_to_input("starts", 1), u.attr_to_input("ends", 2), u.attr_to_input("axes", 3); },
       down_to_attributes},
  };
  static constexpr Expansion expansions[] = {
      expansion<op::Slice>(
          10, Exactness::exact, [](const op::Slice&, Expand& e) { expand_computed(e); },
          [](const op::Slice&, const Graph& g, NodeId n, int64_t) {
            return is_computed(g, n) || steps_into_unknown(g, n);
          }),
      expansion<op::Slice>(
          10, Exactness::exact, [](const op::Slice&, Expand& e) { expand_steps(e); },
          [](const op::Slice&, const Graph& g, NodeId n, int64_t) { return has_steps(g, n); }),
      expansion<op::Slice>(
          11, Exactness::exact, [](const op::Slice&, Expand& e) { expand_axes(e); },
          [](const op::Slice&, const Graph& g, NodeId n, int64_t t) { return t == 10 && has_negative_axes(g, n); }),
  };
};

constexpr OpRules table[] = {rules<Slice>()};

}  // namespace

std::span<const OpRules> slice_rules() { return table; }

}  // namespace cameo::ops
