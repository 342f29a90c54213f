// torch, Other Operations: running sums, products and extrema; differences.
#include <limits>

#include "lowering/axes.h"
#include "lowering/forms.h"
#include "lowering/loop.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V running_sum(Lower& on, V x, int64_t dim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  else if (on.is_int(x) || on.is_bool(x)) x = on.to(x, DType::i64);
  if (on.rank(x) == 0) return x;
  return on.CumSum(x, on.On::int_scalar(on.axis(x, dim)));
}

// One step: every element is joined with the one `seen` places before it.
template <class Combine>
Vs joined_with_earlier(Lower& on, const Vs& state, int64_t axis, Dim seen, const Combine& combine) {
  const Dim n = on.dim(state[0], axis);
  Vs before, here, out;
  for (const V v : state) {
    before.push_back(on.slice(v, axis, Dim(0), n - seen));
    here.push_back(on.slice(v, axis, seen, n));
  }
  const Vs joined = combine(before, here);
  for (size_t i = 0; i < state.size(); ++i)
    out.push_back(on.concat({on.slice(state[i], axis, Dim(0), seen), joined[i]}, axis));
  return out;
}

// Every element combined with all before it, in log2(n) steps: each step doubles how far back an element has seen.
template <class Combine>
Vs scan(Lower& on, Vs state, int64_t axis, const Combine& combine) {
  if (const auto n = on.known_dim(state[0], axis)) {
    for (int64_t seen = 1; seen < *n; seen *= 2) state = joined_with_earlier(on, state, axis, Dim(seen), combine);
    return state;
  }
  const Dim n = on.dim(state[0], axis);
  state.push_back(on.On::int_scalar(1));
  LoopWriter steps(on, on.int_scalar(n), state);  // fewer than n; none where there is nothing
  Vs in = steps.state();
  const Dim seen = on.int_of(in.back());
  in.pop_back();
  Vs next = joined_with_earlier(on, in, axis, seen, combine);
  next.push_back(on.int_scalar(seen * Dim(2)));
  Vs out = steps.finish(next, on.Less(next.back(), on.int_scalar(n)));
  out.pop_back();
  return out;
}

V running_product(Lower& on, V x, int64_t dim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  else if (!on.is_float(x)) x = on.to(x, DType::i64);
  if (on.rank(x) == 0) return x;
  const int64_t axis = on.axis(x, dim);
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

V diff(Lower& on, V x, int64_t n, int64_t dim, Opt<V> prepend, Opt<V> append) {
  const int64_t axis = on.axis(x, dim);
  constexpr int64_t most = 1 << 20;
  if (n < 0 || n > most) unsupported(cat("differences taken ", n, " times"));
  Vs parts{x};
  if (prepend) parts.insert(parts.begin(), *prepend);
  if (append) parts.push_back(*append);
  x = parts.size() == 1 ? x : on.concat(parts, axis);
  for (int64_t i = 0; i < n; ++i) x = differences(on, x, axis);
  return x;
}

constexpr Row table[] = {
    {"aten::cummax", fn<running_extremum<true>>},    {"aten::cummin", fn<running_extremum<false>>},
    {"aten::cumprod", fn<running_product>},          {"aten::cumsum", fn<running_sum>},
    {"aten::logcumsumexp", fn<running_log_sum_exp>}, {"aten::diff", fn<diff>},
};

}  // namespace

std::span<const Row> torch_other_cumulative_rows() { return table; }

}  // namespace cameo::lowering
