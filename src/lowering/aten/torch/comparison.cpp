// torch, Comparison Ops; sorting is among them.
#include "lowering/aten/torch/comparison.h"

#include "lowering/arithmetic.h"
#include "lowering/elementary.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V fextremum(Lower& on, V a, V b, bool greater) {
  const std::vector<ValueId> both{a, b};
  const V y = greater ? on.Max(both) : on.Min(both);
  if (!on.is_float(a)) return y;
  return on.Where(is_nan(on, a), b, on.Where(is_nan(on, b), a, y));
}

V is_close(Lower& on, V a, V b, double rtol, double atol, bool equal_nan) {
  if (!on.is_float(a)) a = on.to(a, DType::f64), b = on.to(b, DType::f64);
  const V near =
      on.LessOrEqual(on.Abs(on.Sub(a, b)), on.Add(on.number_like(atol, a), on.Mul(on.number_like(rtol, a), on.Abs(b))));
  V y = on.Or(on.Equal(a, b), on.And(near, on.Not(is_inf(on, b, true, true))));
  if (equal_nan) y = on.Or(y, on.And(is_nan(on, a), is_nan(on, b)));
  return y;
}

V is_in(Lower& on, V x, V set, bool, bool invert) {
  const V y = flags_any(on, on.Equal(on.unsqueeze(x, {on.rank(x)}), flat(on, set)), on.rank(x));
  return invert ? V(on.Not(y)) : y;
}

std::tuple<V, V> top_k(Lower& on, V x, Dim k, int64_t dim, bool largest, bool sorted) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  const auto out =
      on.TopK(x, on.int_vector(Dims{k}), 2, {.axis = on.axis(x, dim), .largest = largest, .sorted = sorted});
  return {out[0], out[1]};
}

std::tuple<V, V> sorted(Lower& on, V x, int64_t dim, bool descending) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  const bool bools = on.is_bool(x);
  const auto [values, at] = top_k(on, bools ? on.to(x, DType::i32) : x, on.dim(x, dim), dim, descending, true);
  return {bools ? on.to(values, DType::boolean) : values, at};
}

V all_true(Lower& on, V flags) {
  if (on.rank(flags) == 0) return flags;
  return on.to(reduce(on, Reduce::min, on.to(flags, DType::i32), on.all_axes(flags), false), DType::boolean);
}

Arg answer(V flag) { return Arg(StagedBool{flag}); }

Arg equal(Lower& on, V a, V b) {
  if (on.rank(a) != on.rank(b)) return Arg(false);
  for (int64_t i = 0; i < on.rank(a); ++i)
    if (on.equal(on.dim(a, i), on.dim(b, i)) == Answer::no) return Arg(false);
  bool one_size = true;
  for (int64_t i = 0; i < on.rank(a); ++i) one_size &= on.provably(on.dim(a, i), on.dim(b, i));
  if (one_size) return answer(all_true(on, on.Equal(a, b)));
  // Sizes that only a run can tell: they are compared, and the elements as far as both have some.
  const Dim both = min(element_count(on.shape(a)), element_count(on.shape(b)));
  const V sizes = on.Equal(on.int_vector(on.shape(a)), on.int_vector(on.shape(b)));
  const V differ = on.Not(on.Equal(on.slice(flat(on, a), 0, Dim(0), both), on.slice(flat(on, b), 0, Dim(0), both)));
  return answer(on.And(all_true(on, sizes), on.Not(flags_any(on, differ, 0))));
}

Arg all_close(Lower& on, V a, V b, double rtol, double atol, bool equal_nan) {
  const V bound = on.Add(on.number_like(atol, a), on.Mul(on.number_like(rtol, a), on.Abs(b)));
  V close = on.Or(on.Equal(a, b), on.LessOrEqual(on.Abs(on.Sub(a, b)), bound));
  if (equal_nan) close = on.Or(close, on.And(on.IsNaN(a), on.IsNaN(b)));
  return answer(all_true(on, close));
}

constexpr Row table[] = {
    {"aten::max.other",
     [](Lower& on, V a, V b) {
       return V(on.Max(std::vector<ValueId>{a, b}));
     },
     promote(0, 1)},
    {"aten::min.other",
     [](Lower& on, V a, V b) {
       return V(on.Min(std::vector<ValueId>{a, b}));
     },
     promote(0, 1)},
    {"aten::eq.Tensor", [](Lower& on, V a, V b) { return V(on.Equal(a, b)); }, promote(0, 1)},
    {"aten::eq.Scalar", [](Lower& on, V a, V b) { return V(on.Equal(a, b)); }, promote(0, 1)},
    {"aten::ne.Tensor", [](Lower& on, V a, V b) { return V(on.Not(on.Equal(a, b))); }, promote(0, 1)},
    {"aten::ne.Scalar", [](Lower& on, V a, V b) { return V(on.Not(on.Equal(a, b))); }, promote(0, 1)},
    {"aten::lt.Tensor", [](Lower& on, V a, V b) { return V(on.Less(a, b)); }, promote(0, 1)},
    {"aten::lt.Scalar", [](Lower& on, V a, V b) { return V(on.Less(a, b)); }, promote(0, 1)},
    {"aten::le.Tensor", [](Lower& on, V a, V b) { return V(on.LessOrEqual(a, b)); }, promote(0, 1)},
    {"aten::le.Scalar", [](Lower& on, V a, V b) { return V(on.LessOrEqual(a, b)); }, promote(0, 1)},
    {"aten::gt.Tensor", [](Lower& on, V a, V b) { return V(on.Greater(a, b)); }, promote(0, 1)},
    {"aten::gt.Scalar", [](Lower& on, V a, V b) { return V(on.Greater(a, b)); }, promote(0, 1)},
    {"aten::ge.Tensor", [](Lower& on, V a, V b) { return V(on.GreaterOrEqual(a, b)); }, promote(0, 1)},
    {"aten::ge.Scalar", [](Lower& on, V a, V b) { return V(on.GreaterOrEqual(a, b)); }, promote(0, 1)},
    {"aten::maximum",
     [](Lower& on, V a, V b) {
       return V(on.Max(std::vector<ValueId>{a, b}));
     },
     promote(0, 1)},
    {"aten::minimum",
     [](Lower& on, V a, V b) {
       return V(on.Min(std::vector<ValueId>{a, b}));
     },
     promote(0, 1)},
    {"aten::fmax", [](Lower& on, V a, V b) { return fextremum(on, a, b, true); }, promote(0, 1)},
    {"aten::fmin", [](Lower& on, V a, V b) { return fextremum(on, a, b, false); }, promote(0, 1)},
    {"aten::isnan", fn<is_nan>},
    {"aten::isinf", [](Lower& on, V x) { return is_inf(on, x, true, true); }},
    {"aten::isposinf", [](Lower& on, V x) { return is_inf(on, x, true, false); }},
    {"aten::isneginf", [](Lower& on, V x) { return is_inf(on, x, false, true); }},
    {"aten::isfinite", [](Lower& on, V x) { return V(on.Not(on.Or(is_inf(on, x, true, true), is_nan(on, x)))); }},
    {"aten::isreal", [](Lower& on, V x) { return on.full(on.shape(x), Num(Arg(true)), DType::boolean); }},
    {"aten::isclose", fn<is_close>, promote(0, 1)},
    {"aten::isin.Tensor_Tensor", fn<is_in>, promote(0, 1)},
    {"aten::isin.Tensor_Scalar", fn<is_in>, promote(0, 1)},
    {"aten::isin.Scalar_Tensor", fn<is_in>, promote(0, 1)},
    {"aten::allclose", fn<all_close>, promote(0, 1)},
    {"aten::equal", fn<equal>, promote(0, 1)},
    {"aten::is_nonzero", [](Lower& on, V x) { return answer(on.to(on.reshape(x, {}), DType::boolean)); }},
    {"aten::sort", fn<sorted>},
    {"aten::sort.stable",
     [](Lower& on, V x, Opt<bool>, int64_t dim, bool descending) { return sorted(on, x, dim, descending); }},
    {"aten::argsort",
     [](Lower& on, V x, int64_t dim, bool descending) { return std::get<1>(sorted(on, x, dim, descending)); }},
    {"aten::argsort.stable",
     [](Lower& on, V x, bool, int64_t dim, bool descending) { return std::get<1>(sorted(on, x, dim, descending)); }},
    {"aten::topk", fn<top_k>},
    {"aten::kthvalue", fn<kth_value>},
    {"aten::msort", [](Lower& on, V x) { return ascending(on, x, 0); }},
};

}  // namespace

std::tuple<V, V> smallest(Lower& on, V x, Dim k, int64_t axis) {
  const auto out = on.TopK(x, on.int_vector(Dims{k}), 2, {.axis = axis, .largest = 0, .sorted = 1});
  return {out[0], out[1]};
}

V ascending(Lower& on, V x, int64_t axis) {
  return on.rank(x) == 0 ? x : std::get<0>(smallest(on, x, on.dim(x, axis), axis));
}

std::tuple<V, V> kth_value(Lower& on, V x, Dim k, int64_t dim, bool keepdim) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  const int64_t axis = on.axis(x, dim);
  const auto [values, at] = smallest(on, x, k, axis);
  const auto last = [&](V v) {
    return keepdim ? on.slice(v, axis, k - Dim(1), k) : on.gather_scalar(v, axis, k - Dim(1));
  };
  return {last(values), last(at)};
}

std::span<const Row> torch_comparison_rows() { return table; }

}  // namespace cameo::lowering
