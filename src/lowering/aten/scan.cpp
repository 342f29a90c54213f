// Running products, maxima and sums of exponentials; differences, integrals and slopes along an axis.
#include <limits>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// Every element combined with all before it, in log2(n) steps: each step doubles how far back an element has seen.
template <class Combine>
Vs scan(Lower& on, Vs state, int64_t axis, const Combine& combine) {
  const int64_t n = known_size(on, state[0], axis, "a running product or extremum");
  for (int64_t seen = 1; seen < n; seen *= 2) {
    Vs before, here;
    for (const V v : state) {
      before.push_back(on.slice(v, axis, Dim(0), Dim(n - seen)));
      here.push_back(on.slice(v, axis, Dim(seen), Dim(n)));
    }
    const Vs joined = combine(before, here);
    for (size_t i = 0; i < state.size(); ++i)
      state[i] = on.concat({on.slice(state[i], axis, Dim(0), Dim(seen)), joined[i]}, axis);
  }
  return state;
}

V running_product(Lower& on, V x, int64_t dim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  else if (!on.is_float(x)) x = on.to(x, DType::i64);
  if (on.rank(x) == 0) return x;
  const int64_t axis = on.axis(x, dim);
  if (!on.known_dim(x, axis)) return on.CumProd(x, on.On::int_scalar(axis));
  return scan(on, {x}, axis, [&](const Vs& a, const Vs& b) { return Vs{on.Mul(a[0], b[0])}; })[0];
}

// Equal values: the later index, as torch has it.
template <bool Max>
std::tuple<V, V> running_extremum(Lower& on, V x, int64_t dim) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  const int64_t axis = on.axis(x, dim);
  const V at = on.expand(reach(on, iota(on, on.dim(x, axis)), axis, on.rank(x)), on.shape(x));
  const Vs out = scan(on, {x, at}, axis, [&](const Vs& a, const Vs& b) {
    const V later = Max ? on.GreaterOrEqual(b[0], a[0]) : on.LessOrEqual(b[0], a[0]);
    return Vs{on.Where(later, b[0], a[0]), on.Where(later, b[1], a[1])};
  });
  return {out[0], out[1]};
}

V running_log_sum_exp(Lower& on, V x, int64_t dim) {
  if (on.rank(x) == 0) return x;
  const V lowest = on.number_like(-std::numeric_limits<double>::infinity(), x);
  return scan(on, {x}, on.axis(x, dim), [&](const Vs& a, const Vs& b) {
    const std::vector<ValueId> both{a[0], b[0]};
    const V hi = on.Max(both), lo = on.Min(both);
    // log(e^hi + e^lo) = hi + log(1 + e^(lo - hi)); minus infinity from itself is not a number.
    return Vs{on.Where(on.Equal(lo, lowest), hi, on.Add(hi, on.Softplus(on.Sub(lo, hi))))};
  })[0];
}

V step(Lower& on, V x, int64_t axis, Dim from, Dim less) { return on.slice(x, axis, from, on.dim(x, axis) - less); }

V differences(Lower& on, V x, int64_t axis) {
  const V later = step(on, x, axis, Dim(1), Dim(0)), earlier = step(on, x, axis, Dim(0), Dim(1));
  return on.is_bool(x) ? V(on.Xor(later, earlier)) : V(on.Sub(later, earlier));
}

V diff(Lower& on, V x, int64_t n, int64_t dim, Opt<V> prepend, Opt<V> append) {
  const int64_t axis = on.axis(x, dim);
  Vs parts{x};
  if (prepend) parts.insert(parts.begin(), *prepend);
  if (append) parts.push_back(*append);
  x = parts.size() == 1 ? x : on.concat(parts, axis);
  for (int64_t i = 0; i < n; ++i) x = differences(on, x, axis);
  return x;
}

V trapezoids(Lower& on, V y, V width, int64_t axis, bool running) {
  const V sum = on.Add(step(on, y, axis, Dim(1), Dim(0)), step(on, y, axis, Dim(0), Dim(1)));
  const V areas = on.Mul(on.Mul(sum, on.number_like(0.5, y)), width);
  return running ? V(on.CumSum(areas, on.On::int_scalar(axis))) : reduce(on, Reduce::sum, areas, {axis}, false);
}
template <bool Running>
V trapezoid(Lower& on, V y, V x, int64_t dim) {
  const int64_t axis = on.axis(y, dim);
  if (on.rank(x) == 1) x = reach(on, x, axis, on.rank(y));
  const int64_t x_axis = axis - on.rank(y) + on.rank(x);
  return trapezoids(on, y, differences(on, x, x_axis), axis, Running);
}
template <bool Running>
V trapezoid_dx(Lower& on, V y, Num dx, int64_t dim) {
  if (!on.is_float(y)) y = on.to(y, default_float);
  return trapezoids(on, y, on.scalar_like(dx, y), on.axis(y, dim), Running);
}

// Central differences inside, one-sided ones of the asked order at both ends.
V slope(Lower& on, V x, int64_t axis, const Num& spacing, int64_t edge_order) {
  const Dim n = on.dim(x, axis);
  const V h = on.scalar_like(spacing, x), h2 = on.Mul(h, on.number_like(2, x));
  const auto at = [&](Dim i) { return on.slice(x, axis, i, i + Dim(1)); };
  const V inside = on.Div(on.Sub(step(on, x, axis, Dim(2), Dim(0)), step(on, x, axis, Dim(0), Dim(2))), h2);
  const auto edge = [&](V x0, V x1, V x2) -> V {
    if (edge_order == 1) return on.Div(on.Sub(x1, x0), h);
    const V near = on.Sub(on.Mul(x1, on.number_like(4, x)), on.Mul(x0, on.number_like(3, x)));
    return on.Div(on.Sub(near, x2), h2);
  };
  const V first = edge(at(Dim(0)), at(Dim(1)), edge_order == 1 ? V() : at(Dim(2)));
  const V last = on.Neg(edge(at(n - Dim(1)), at(n - Dim(2)), edge_order == 1 ? V() : at(n - Dim(3))));
  return on.concat({first, inside, last}, axis);
}
Vs gradient(Lower& on, V x, const std::vector<Num>& spacing, const Opt<Ints>& dims, int64_t edge_order) {
  if (!on.is_float(x)) x = on.to(x, default_float);
  const Ints axes = dims ? on.axes(x, *dims) : on.all_axes(x);
  Vs out;
  for (size_t i = 0; i < axes.size(); ++i)
    out.push_back(slope(on, x, axes[i], spacing[spacing.size() == 1 ? 0 : i], edge_order));
  return out;
}
std::vector<Num> numbers(const Floats& v) { return {v.begin(), v.end()}; }

constexpr Row table[] = {
    {"aten::cumprod", fn<running_product>},
    {"aten::cummax", fn<running_extremum<true>>},
    {"aten::cummin", fn<running_extremum<false>>},
    {"aten::logcumsumexp", fn<running_log_sum_exp>},
    {"aten::diff", fn<diff>},
    {"aten::trapezoid.x", fn<trapezoid<false>>, promote_float(0, 1)},
    {"aten::trapz.x", fn<trapezoid<false>>, promote_float(0, 1)},
    {"aten::trapezoid.dx", fn<trapezoid_dx<false>>},
    {"aten::trapz.dx", fn<trapezoid_dx<false>>},
    {"aten::cumulative_trapezoid.x", fn<trapezoid<true>>, promote_float(0, 1)},
    {"aten::cumulative_trapezoid.dx", fn<trapezoid_dx<true>>},
    {"aten::gradient.scalarint",
     [](Lower& on, V x, Opt<Num> h, Opt<int64_t> dim, int64_t order) {
       return gradient(on, x, {h.value_or(Num(1.0))}, dim ? Opt<Ints>(Ints{*dim}) : std::nullopt, order);
     }},
    {"aten::gradient.array",
     [](Lower& on, V x, Ints dims, int64_t order) { return gradient(on, x, {Num(1.0)}, dims, order); }},
    {"aten::gradient.scalararray",
     [](Lower& on, V x, Num h, Ints dims, int64_t order) { return gradient(on, x, {h}, dims, order); }},
    {"aten::gradient.scalarrayint",
     [](Lower& on, V x, Floats h, Opt<int64_t> dim, int64_t order) {
       return gradient(on, x, numbers(h), dim ? Opt<Ints>(Ints{*dim}) : std::nullopt, order);
     }},
    {"aten::gradient.scalarrayarray",
     [](Lower& on, V x, Floats h, Ints dims, int64_t order) { return gradient(on, x, numbers(h), dims, order); }},
};

}  // namespace

std::span<const Row> scan_rows() { return table; }

}  // namespace cameo::lowering
