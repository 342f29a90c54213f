// torch, Reduction Ops: what needs sorted data: medians, quantiles, modes, distinct values.
#include <limits>

#include "lowering/aten/torch/comparison.h"
#include "lowering/call_row.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::tuple<V, V> median(Lower& on, V x, int64_t dim, bool keepdim) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  return kth_value(on, x, floor_div(on.dim(x, dim) - Dim(1), Dim(2)) + Dim(1), dim, keepdim);
}

// Numbers that are none sort last; the middle is that of the others.
std::tuple<V, V> nan_median(Lower& on, V x, int64_t dim, bool keepdim) {
  if (on.rank(x) == 0 || !on.is_float(x)) return median(on, x, dim, keepdim);
  const int64_t axis = on.axis(x, dim);
  const V none = on.IsNaN(x);
  const auto [values, at] = smallest(on, on.Where(none, on.number_like(infinity, x), x), on.dim(x, axis), axis);
  const V count = reduce(on, Reduce::sum, on.to(on.Not(none), DType::i64), {axis}, true), one = on.On::int_scalar(1);
  const V empty = on.Less(count, one);
  const V middle = on.Where(empty, on.On::int_scalar(0), on.Div(on.Sub(count, one), on.On::int_scalar(2)));
  const auto pick = [&](V v) { return V(on.GatherElements(v, middle, {.axis = axis})); };
  const V value = on.Where(empty, on.number_like(std::numeric_limits<double>::quiet_NaN(), x), pick(values)),
          where = pick(at);
  return {keepdim ? value : on.squeeze(value, {axis}), keepdim ? where : on.squeeze(where, {axis})};
}

// The most frequent value, the smallest of several, at its last place.
std::tuple<V, V> mode(Lower& on, V x, int64_t dim, bool keepdim) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  if (!on.is_float(x)) unsupported("mode of integers");
  const int64_t axis = on.axis(x, dim);
  const V counts =
      reduce(on, Reduce::sum, on.to(on.Equal(on.unsqueeze(x, {axis + 1}), on.unsqueeze(x, {axis})), DType::i32),
             {axis + 1}, false);
  const V frequent = on.Equal(counts, reduce(on, Reduce::max, counts, {axis}, true));
  const V value = reduce(on, Reduce::min, on.Where(frequent, x, on.number_like(infinity, x)), {axis}, true);
  const V places = reach(on, iota(on, on.dim(x, axis)), axis, on.rank(x));
  const V at = reduce(on, Reduce::max, on.Where(on.Equal(x, value), places, on.On::int_scalar(-1)), {axis}, keepdim);
  return {keepdim ? value : on.squeeze(value, {axis}), at};
}

V quantile(Lower& on, V x, V q, Opt<int64_t> dim, bool keepdim, const Str& how, bool skip_nan) {
  const auto rank = static_cast<size_t>(on.rank(x));
  const int64_t axis = dim ? on.axis(x, *dim) : 0;
  x = !dim || rank == 0 ? flat(on, x) : moved(on, x, {axis}, {-1});
  const int64_t end = on.rank(x) - 1;
  const V one = on.number_like(1, x);
  V last = on.Sub(on.to(on.int_scalar(on.dim(x, -1)), on.dtype(x)), one);
  if (skip_nan) {
    const V none = on.IsNaN(x);
    last = on.Sub(reduce(on, Reduce::sum, on.to(on.Not(none), on.dtype(x)), {end}, true), one);
    x = on.Where(none, on.number_like(infinity, x), x);
  }
  const V sorted = ascending(on, x, end);
  const V q1 = on.rank(q) == 0 ? on.unsqueeze(q, {0}) : q;
  Dims shape = on.shape(x);
  shape.back() = on.dim(q1, 0);
  const V position = on.expand(on.Mul(q1, last), shape), below = on.Floor(position), above = on.Ceil(position);
  const auto at = [&](V p) { return V(on.GatherElements(sorted, on.to(p, DType::i64), {.axis = end})); };
  V y;
  if (how == "lower") y = at(below);
  else if (how == "higher") y = at(above);
  else if (how == "nearest") y = at(on.Round(position));
  else if (how == "midpoint") y = on.Mul(on.Add(at(below), at(above)), on.number_like(0.5, x));
  else y = on.Add(at(below), on.Mul(on.Sub(at(above), at(below)), on.Sub(position, below)));
  y = moved(on, y, {-1}, {0});
  if (keepdim && !dim)
    for (size_t i = 0; i < rank; ++i) y = on.unsqueeze(y, {1});
  else if (keepdim && rank > 0) y = on.unsqueeze(y, {axis + 1});
  return on.rank(q) == 0 ? on.squeeze(y, {0}) : y;
}

template <bool SkipNan>
V quantile_at(Lower& on, V x, V q, Opt<int64_t> dim, bool keepdim, Str how) {
  return quantile(on, x, q, dim, keepdim, how, SkipNan);
}

template <bool SkipNan>
V quantile_scalar(Lower& on, V x, double q, Opt<int64_t> dim, bool keepdim, Str how) {
  return quantile(on, x, on.number_like(q, x), dim, keepdim, how, SkipNan);
}

using Distinct = std::tuple<V, V, V>;

V nothing(Lower& on) { return on.ints(Ints{}); }

// ONNX Runtime finds distinct numbers of these types only; the others fit into one of them.
V for_unique(Lower& on, V x) {
  const DType t = on.dtype(x);
  if (t == DType::f32 || t == DType::f64 || t == DType::i64 || t == DType::i8) return x;
  return on.to(x, is_int(t) || t == DType::boolean ? DType::i64 : DType::f32);
}

Distinct unique(Lower& on, V x, bool, bool inverse, bool counts) {
  const auto out = on.Unique(flat(on, for_unique(on, x)), 4, {.sorted = 1});
  return {on.to(out[0], on.dtype(x)), inverse ? on.reshape(out[2], on.shape(x)) : nothing(on),
          counts ? V(out[3]) : nothing(on)};
}

Distinct unique_along(Lower& on, V x, int64_t dim, bool, bool inverse, bool counts) {
  const auto out = on.Unique(for_unique(on, x), 4, {.axis = on.axis(x, dim), .sorted = 1});
  return {on.to(out[0], on.dtype(x)), inverse ? V(out[2]) : nothing(on), counts ? V(out[3]) : nothing(on)};
}

// Where a run of equal values starts.
V run_starts_of_some(Lower& on, V all) {
  const Dim n = on.dim(all, 0);
  const V changes = on.Not(on.Equal(on.slice(all, 0, Dim(1), n), on.slice(all, 0, Dim(0), n - Dim(1))));
  return on.concat({on.full({Dim(1)}, Num(Arg(true)), DType::boolean), changes}, 0);
}
// The same where there may be nothing, and then nothing starts.
V run_starts(Lower& on, V all) {
  const V at = iota(on, on.dim(all, 0)), zero = on.On::int_scalar(0);
  const V before = on.Sub(at, on.to(on.Less(zero, at), DType::i64));
  return on.Or(on.Equal(at, zero), on.Not(on.Equal(all, on.Gather(all, before, {.axis = 0}))));
}

Distinct unique_consecutive(Lower& on, V x, bool inverse, bool counts, Opt<int64_t> dim) {
  if (dim && on.rank(x) > 1) unsupported("unique_consecutive along an axis", "drop dim, or use unique");
  const V all = flat(on, x), one = on.On::int_scalar(1);
  const Dim n = on.dim(all, 0);
  const bool may_be_empty = on.graph().facts.less(Dim(0), n) != Answer::yes;
  const V starts = may_be_empty ? run_starts(on, all) : run_starts_of_some(on, all);
  const V run = on.Sub(on.CumSum(on.to(starts, DType::i64), on.On::int_scalar(0)), one);
  const V first = on.Compress(iota(on, n), starts, {.axis = 0});
  V ends = on.Concat(std::vector<ValueId>{on.Slice(first, on.ints({1}), on.ints({INT64_MAX})), on.int_vector(Dims{n})},
                     {.axis = 0});
  if (may_be_empty) ends = on.Slice(ends, on.ints({0}), on.Shape(first));
  return {on.Compress(all, starts, {.axis = 0}), inverse ? on.reshape(run, on.shape(x)) : nothing(on),
          counts ? V(on.Sub(ends, first)) : nothing(on)};
}

constexpr Row table[] = {
    {"aten::median", [](Lower& on, V x) { return std::get<0>(median(on, flat(on, x), 0, false)); }},
    {"aten::median.dim", fn<median>},
    {"aten::nanmedian", [](Lower& on, V x) { return std::get<0>(nan_median(on, flat(on, x), 0, false)); }},
    {"aten::nanmedian.dim", fn<nan_median>},
    {"aten::mode", fn<mode>},
    {"aten::quantile", fn<quantile_at<false>>},
    {"aten::quantile.scalar", fn<quantile_scalar<false>>},
    {"aten::nanquantile", fn<quantile_at<true>>},
    {"aten::nanquantile.scalar", fn<quantile_scalar<true>>},
    {"aten::_unique2", fn<unique>},
    {"aten::_unique",
     [](Lower& on, V x, bool, bool inverse) {
       const auto r = call_row(on, "aten::_unique2", {Arg(x), Arg(true), Arg(inverse), Arg(false)});
       return std::tuple<V, V>{result(r, 0), result(r, 1)};
     }},
    {"aten::unique_dim", fn<unique_along>},
    {"aten::unique_consecutive", fn<unique_consecutive>},
};

}  // namespace

std::span<const Row> torch_reduction_order_rows() { return table; }

}  // namespace cameo::lowering
