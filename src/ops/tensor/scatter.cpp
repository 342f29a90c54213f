// Scatter, ScatterElements, ScatterND: elements written by index.
#include <cmath>
#include <functional>

#include "ops/eval.h"
#include "ops/computed.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/tensor/contents.h"
#include "ops/tensor/linear_index.h"

namespace cameo::ops {

namespace {

void check_reduction(std::string_view reduction) {
  if (reduction != "none" && reduction != "add" && reduction != "mul" && reduction != "max" && reduction != "min")
    throw error("model.attribute", cat("there is no reduction '", reduction, "'"));
}

// target[places[i]] = combine(target[places[i]], updates[i]), in order.
template <class C, class F>
Tensor combined(const Tensor& target, std::span<const int64_t> places, const Tensor& updates, F combine) {
  const Loaded<C> from(updates), before(target);
  std::vector<C> out(before.span().begin(), before.span().end());
  for (size_t i = 0; i < places.size(); ++i) {
    C& at = out[static_cast<size_t>(places[i])];
    at = combine(at, from[static_cast<int64_t>(i)]);
  }
  return store(target.dtype(), target.shape(), out);
}

template <class C>
Tensor reduced(const Tensor& target, std::span<const int64_t> places, const Tensor& updates,
               std::string_view reduction) {
  // Integers wrap: computed as unsigned so that overflow is defined.
  using U = std::conditional_t<std::is_same_v<C, int64_t>, uint64_t, C>;
  if (reduction == "add")
    return combined<C>(target, places, updates,
                       [](C a, C b) { return static_cast<C>(static_cast<U>(a) + static_cast<U>(b)); });
  if (reduction == "mul")
    return combined<C>(target, places, updates,
                       [](C a, C b) { return static_cast<C>(static_cast<U>(a) * static_cast<U>(b)); });
  const auto nan = [](C v) { return v != v; };
  if (reduction == "max")
    return combined<C>(target, places, updates, [nan](C a, C b) { return nan(a) || a > b ? a : b; });
  return combined<C>(target, places, updates, [nan](C a, C b) { return nan(a) || a < b ? a : b; });  // min
}

Tensor scattered(const Tensor& target, std::span<const int64_t> places, const Tensor& updates,
                 std::string_view reduction) {
  if (updates.dtype() != target.dtype() || static_cast<int64_t>(places.size()) != updates.count())
    Eval::fail("eval.scatter", cat(places.size(), " places for ", updates.count(), " updates"));
  check_reduction(reduction);
  if (reduction == "none") return put(target, places, updates);
  return with_carrier(target.dtype(), [&](auto c) { return reduced<decltype(c)>(target, places, updates, reduction); });
}

void infer_elements(Infer& c, int64_t axis, std::string_view reduction) {
  check_reduction(reduction);
  if (c.rank(1) != c.rank(0) || c.rank(2) != c.rank(0))
    c.fail("infer.rank", cat("data, indices and updates of ranks ", c.rank(0), ", ", c.rank(1), " and ", c.rank(2)));
  check_indices_fit(c, axis);
  for (int64_t i = 0; i < c.rank(1); ++i)
    c.same(c.dim(1, i), c.dim(2, i), cat("sizes of indices and updates on axis ", i));
  c.out(0, c.shape(0));
}

void eval_elements(Eval& k, int64_t axis, std::string_view reduction) {
  const Tensor& x = k.in(0);
  k.out(0, scattered(x, places_along(x.shape(), k.in(1), k.axis(axis, x.rank())), k.in(2), reduction));
}

bool is_new_reduction(std::string_view r) { return r == "max" || r == "min"; }

void down_before_extrema(Downgrade& d) {
  const auto* held = find_attr(d.attrs, "reduction");
  if (const auto* r = held ? std::get_if<std::string>(held) : nullptr; r && is_new_reduction(*r))
    d.refuse("the reductions max and min did not exist there");
}
void down_before_reductions(Downgrade& d) { d.drop_default("reduction", std::string("none")); }

ValueId combine(On& on, const std::string& reduction, ValueId a, ValueId b) {
  if (reduction == "add") return on.Add(a, b);
  if (reduction == "mul") return on.Mul(a, b);
  return reduction == "max" ? on.Max(std::vector{a, b}) : on.Min(std::vector{a, b});
}

// Row `rows[i]` of `data` combined with row i of `updates`, one after the other: rows may repeat.
ValueId scatter_rows(On& on, const std::string& reduction, ValueId data, ValueId rows, ValueId updates) {
  return repeat(on, size_of(on, rows, 0), {data}, [&](On& o, ValueId i, const std::vector<ValueId>& carried) {
    const ValueId one = o.Reshape(i, o.ints({1})), row = o.Gather(rows, one);
    const ValueId made = combine(o, reduction, o.Gather(carried[0], row), o.Gather(updates, one));
    return std::vector{o.ScatterElements(carried[0], o.Expand(o.Reshape(row, o.ints({-1, 1})), o.Shape(made)), made)};
  })[0];
}

constexpr auto reduction_is_new = [](const auto& a, const Graph&, NodeId, int64_t target) {
  return a.reduction != "none" && (target < 16 || is_new_reduction(a.reduction));
};

struct Scatter : Rules<op::Scatter> {
  static void infer(const op::Scatter& a, Infer& c) {
    infer_elements(c, a.axis, "none");
    move_contents(c, {0, 2});
  }
  static void eval(const op::Scatter& a, Eval& k) { eval_elements(k, a.axis, "none"); }
  static constexpr Revision revisions[] = {
      {11, [](Upgrade& u) { u.op_type = "ScatterElements"; }, [](Downgrade& d) { d.nonnegative_axes("axis"); }},
  };
};

struct ScatterElements : Rules<op::ScatterElements> {
  static void infer(const op::ScatterElements& a, Infer& c) {
    infer_elements(c, a.axis, a.reduction);
    if (a.reduction == "none") move_contents(c, {0, 2});
  }
  static void eval(const op::ScatterElements& a, Eval& k) { eval_elements(k, a.axis, a.reduction); }

  static void reduce_in_order(const op::ScatterElements& a, Expand& e) {
    const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
    const auto indices = e.fact(1).has_rank() ? known_shape(e.fact(1).shape()) : std::nullopt;
    if (!shape || !indices) return e.refuse("sizes are not known before the model runs");
    On& on = e.on;
    const ValueId places = on.Reshape(
        emit_places_along(on, *shape, e.in(1), a.axis < 0 ? a.axis + e.fact(0).rank() : a.axis), on.ints({-1}));
    const auto column = [&](ValueId v) { return on.Reshape(v, on.ints({-1, 1})); };
    e.replace({on.Reshape(scatter_rows(on, a.reduction, column(e.in(0)), places, column(e.in(2))), on.ints(*shape))});
  }

  static constexpr Revision revisions[] = {{16, nullptr, down_before_reductions}, {18, nullptr, down_before_extrema}};
  static constexpr Expansion expansions[] = {
      expansion<op::ScatterElements>(
          18, Exactness::exact, [](const op::ScatterElements& a, Expand& e) { reduce_in_order(a, e); },
          reduction_is_new),
      expansion<op::ScatterElements>(
          11, Exactness::exact,
          [](const op::ScatterElements& a, Expand& e) {
            if (a.reduction != "none") return e.refuse("reductions did not exist there");
            e.replace(e.on.make(op::Scatter{.axis = a.axis}, {e.in(0), e.in(1), e.in(2)}, 1));
          }),
  };
};

struct ScatterND : Rules<op::ScatterND> {
  static void infer(const op::ScatterND& a, Infer& c) {
    check_reduction(a.reduction);
    if (c.rank(0) == 0 || c.rank(1) == 0) c.fail("infer.rank", "data and indices need at least one axis");
    c.out(0, c.shape(0));
    check_updates(c);
    if (a.reduction == "none") move_contents(c, {0, 2});
  }

  static void check_updates(Infer& c) {
    const Shape &data = c.shape(0), &indices = c.shape(1), &updates = c.shape(2);
    if (!indices.back().is_literal()) return;
    const int64_t depth = indices.back().literal();
    if (depth > c.rank(0)) c.fail("infer.rank", cat("indices of ", depth, " numbers for data of rank ", c.rank(0)));
    Shape wanted(indices.begin(), indices.end() - 1);
    wanted.insert(wanted.end(), data.begin() + depth, data.end());
    if (wanted.size() != updates.size())
      c.fail("infer.rank", cat("updates of rank ", updates.size(), " where ", wanted.size(), " is wanted"));
    for (size_t i = 0; i < wanted.size(); ++i)
      c.same(wanted[i], updates[i], cat("sizes of updates and places on axis ", i));
  }

  static void eval(const op::ScatterND& a, Eval& k) {
    const Rows rows = rows_at(k.in(0).shape(), k.in(1), 0);
    std::vector<int64_t> places;
    for (const int64_t start : rows.starts)
      for (int64_t i = 0; i < rows.length; ++i) places.push_back(start + i);
    k.out(0, scattered(k.in(0), places, k.in(2), a.reduction));
  }

  // Scatter along the first axis of the data seen as rows.
  static void expand(const op::ScatterND& a, Expand& e) {
    const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
    const auto indices = e.fact(1).has_rank() ? known_shape(e.fact(1).shape()) : std::nullopt;
    if (!shape || !indices) return e.refuse("sizes are not known before the model runs");
    const auto depth = static_cast<size_t>(indices->back());
    const int64_t length = element_count(std::span<const int64_t>(*shape).subspan(depth));
    const ValueId data = e.on.Reshape(e.in(0), e.on.ints({-1, length})),
                  updates = e.on.Reshape(e.in(2), e.on.ints({-1, length}));
    const ValueId starts = emit_rows_at(e.on, *shape, e.in(1), 0);
    if (a.reduction != "none")
      return e.replace({e.on.Reshape(
          scatter_rows(e.on, a.reduction, data, e.on.Reshape(starts, e.on.ints({-1})), updates), e.on.ints(*shape))});
    const ValueId rows = e.on.Reshape(starts, e.on.ints({-1, 1}));
    const ValueId places = e.on.Expand(rows, e.on.Shape(updates));
    e.replace({e.on.Reshape(e.on.ScatterElements(data, places, updates), e.on.ints(*shape))});
  }

  static constexpr Revision revisions[] = {{16, nullptr, down_before_reductions}, {18, nullptr, down_before_extrema}};
  static constexpr Expansion expansions[] = {
      expansion<op::ScatterND>(
          18, Exactness::exact, [](const op::ScatterND& a, Expand& e) { expand(a, e); }, reduction_is_new),
      expansion<op::ScatterND>(11, Exactness::exact, [](const op::ScatterND& a, Expand& e) { expand(a, e); }),
  };
};

constexpr OpRules table[] = {rules<Scatter>(), rules<ScatterElements>(), rules<ScatterND>()};

}  // namespace

std::span<const OpRules> scatter_rules() { return table; }

}  // namespace cameo::ops
