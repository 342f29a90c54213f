// Reductions, sorting, running sums.
#include <algorithm>
#include <cmath>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

Ints axes_or_all(Lower& on, V x, const Opt<Ints>& dims) {
  return dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x);
}

// Max, min and sums of bools go through integers.
V reduce_any_type(Lower& on, Reduce kind, V x, const Ints& axes, bool keepdim) {
  if (!on.is_bool(x)) return reduce(on, kind, x, axes, keepdim);
  return on.to(reduce(on, kind, on.to(x, DType::i32), axes, keepdim), DType::boolean);
}

template <bool Max>
std::tuple<V, V> extremum_along(Lower& on, V x, int64_t dim, bool keepdim) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  const int64_t axis = on.axis(x, dim);
  const V values = reduce_any_type(on, Max ? Reduce::max : Reduce::min, x, {axis}, keepdim);
  const V numeric = on.is_bool(x) ? on.to(x, DType::i32) : x;
  const V at = Max ? on.ArgMax(numeric, {.axis = axis, .keepdims = keepdim})
                   : on.ArgMin(numeric, {.axis = axis, .keepdims = keepdim});
  return {values, at};
}

template <bool Max>
V arg_extremum(Lower& on, V x, Opt<int64_t> dim, bool keepdim) {
  if (on.rank(x) == 0) return on.On::int_scalar(0);
  const int64_t rank = on.rank(x);
  if (!dim) {
    x = on.reshape(x, {element_count(on.shape(x))});
    const V at = Max ? on.ArgMax(x, {.axis = 0, .keepdims = 0}) : on.ArgMin(x, {.axis = 0, .keepdims = 0});
    return keepdim ? on.reshape(at, Dims(static_cast<size_t>(rank), Dim(1))) : at;
  }
  const int64_t axis = on.axis(x, *dim);
  return Max ? on.ArgMax(x, {.axis = axis, .keepdims = keepdim}) : on.ArgMin(x, {.axis = axis, .keepdims = keepdim});
}

template <bool All>
V quantified(Lower& on, V x, const Ints& axes, bool keepdim) {
  const bool bytes = on.dtype(x) == DType::u8;  // the one type that any() and all() keep
  const bool some = std::all_of(axes.begin(), axes.end(), [&](int64_t a) {
    return on.graph().facts.surely_less(Dim(0), on.dim(x, a)) == Answer::yes;
  });
  const V truth = on.to(x, DType::boolean);
  // Of nothing there is no largest and no smallest, but a count.
  const V y =
      some ? on.to(reduce(on, All ? Reduce::min : Reduce::max, on.to(truth, DType::i32), axes, keepdim), DType::boolean)
           : on.to(reduce(on, Reduce::sum, on.to(All ? V(on.Not(truth)) : truth, DType::i64), axes, keepdim),
                   DType::boolean);
  const V out = !some && All ? V(on.Not(y)) : y;
  return bytes ? on.to(out, DType::u8) : out;
}

V product(Lower& on, V x, const Ints& axes, bool keepdim, const Opt<DType>& t) {
  if (t) x = on.to(x, *t);
  else if (on.is_int(x) || on.is_bool(x)) x = on.to(x, DType::i64);
  return reduce(on, Reduce::prod, x, axes, keepdim);
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

V running_sum(Lower& on, V x, int64_t dim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  else if (on.is_int(x) || on.is_bool(x)) x = on.to(x, DType::i64);
  if (on.rank(x) == 0) return x;
  return on.CumSum(x, on.On::int_scalar(on.axis(x, dim)));
}

V without_nan(Lower& on, V x) { return on.is_float(x) ? V(on.Where(on.IsNaN(x), on.number_like(0, x), x)) : x; }
V nan_sum(Lower& on, V x, Opt<Ints> dims, bool keepdim, Opt<DType> t) {
  x = without_nan(on, x);
  if (t) x = on.to(x, *t);
  else if (on.is_int(x) || on.is_bool(x)) x = on.to(x, DType::i64);
  return reduce(on, Reduce::sum, x, axes_or_all(on, x, dims), keepdim);
}
V nan_mean(Lower& on, V x, Opt<Ints> dims, bool keepdim, Opt<DType> t) {
  const V count =
      reduce(on, Reduce::sum, on.to(on.Not(on.IsNaN(x)), t.value_or(on.dtype(x))), axes_or_all(on, x, dims), keepdim);
  return on.Div(nan_sum(on, x, dims, keepdim, t), count);
}

constexpr Row table[] = {
    {"aten::max", [](Lower& on, V x) { return reduce_any_type(on, Reduce::max, x, on.all_axes(x), false); }},
    {"aten::min", [](Lower& on, V x) { return reduce_any_type(on, Reduce::min, x, on.all_axes(x), false); }},
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
    {"aten::max.dim", fn<extremum_along<true>>},
    {"aten::min.dim", fn<extremum_along<false>>},
    {"aten::amax", [](Lower& on, V x, Ints dims,
                      bool keep) { return reduce_any_type(on, Reduce::max, x, axes_or_all(on, x, dims), keep); }},
    {"aten::amin", [](Lower& on, V x, Ints dims,
                      bool keep) { return reduce_any_type(on, Reduce::min, x, axes_or_all(on, x, dims), keep); }},
    {"aten::argmax", fn<arg_extremum<true>>},
    {"aten::argmin", fn<arg_extremum<false>>},
    {"aten::all", [](Lower& on, V x) { return quantified<true>(on, x, on.all_axes(x), false); }},
    {"aten::_is_all_true", [](Lower& on, V x) { return quantified<true>(on, x, on.all_axes(x), false); }},
    {"aten::_is_any_true", [](Lower& on, V x) { return quantified<false>(on, x, on.all_axes(x), false); }},
    {"aten::any", [](Lower& on, V x) { return quantified<false>(on, x, on.all_axes(x), false); }},
    {"aten::all.dim",
     [](Lower& on, V x, int64_t d, bool keep) {
       return quantified<true>(on, x, on.rank(x) ? Ints{on.axis(x, d)} : Ints{}, keep);
     }},
    {"aten::any.dim",
     [](Lower& on, V x, int64_t d, bool keep) {
       return quantified<false>(on, x, on.rank(x) ? Ints{on.axis(x, d)} : Ints{}, keep);
     }},
    {"aten::all.dims", [](Lower& on, V x, Opt<Ints> d,
                          bool keep) { return quantified<true>(on, x, d ? on.axes(x, *d) : on.all_axes(x), keep); }},
    {"aten::any.dims", [](Lower& on, V x, Opt<Ints> d,
                          bool keep) { return quantified<false>(on, x, d ? on.axes(x, *d) : on.all_axes(x), keep); }},
    {"aten::prod", [](Lower& on, V x, Opt<DType> t) { return product(on, x, on.all_axes(x), false, t); }},
    {"aten::prod.dim_int",
     [](Lower& on, V x, int64_t d, bool keep, Opt<DType> t) {
       return product(on, x, on.rank(x) ? Ints{on.axis(x, d)} : Ints{}, keep, t);
     }},
    {"aten::logsumexp",
     [](Lower& on, V x, Ints dims, bool keep) {
       return reduce(on, Reduce::log_sum_exp, on.is_float(x) ? x : on.to(x, default_float), axes_or_all(on, x, dims),
                     keep);
     }},
    {"aten::var", [](Lower& on, V x, bool unbiased) { return variance(on, x, on.all_axes(x), unbiased, false); }},
    {"aten::std",
     [](Lower& on, V x, bool unbiased) { return V(on.Sqrt(variance(on, x, on.all_axes(x), unbiased, false))); }},
    {"aten::var.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased,
                         bool keep) { return variance(on, x, axes_or_all(on, x, d), unbiased, keep); }},
    {"aten::std.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased,
                         bool keep) { return V(on.Sqrt(variance(on, x, axes_or_all(on, x, d), unbiased, keep))); }},
    {"aten::var.correction", [](Lower& on, V x, Opt<Ints> d, Opt<Num> c,
                                bool keep) { return variance(on, x, axes_or_all(on, x, d), correction_of(c), keep); }},
    {"aten::std.correction",
     [](Lower& on, V x, Opt<Ints> d, Opt<Num> c, bool keep) {
       return V(on.Sqrt(variance(on, x, axes_or_all(on, x, d), correction_of(c), keep)));
     }},
    {"aten::linalg_vector_norm",
     [](Lower& on, V x, double p, Opt<Ints> d, bool keep, Opt<DType> t) {
       return vector_norm(on, t ? on.to(x, *t) : x, p, axes_or_all(on, x, d), keep);
     }},
    {"aten::norm.Scalar", [](Lower& on, V x, double p) { return vector_norm(on, x, p, on.all_axes(x), false); }},
    {"aten::norm.ScalarOpt_dim",
     [](Lower& on, V x, Opt<double> p, Ints d, bool keep) {
       return vector_norm(on, x, p.value_or(2), axes_or_all(on, x, d), keep);
     }},
    {"aten::topk", fn<top_k>},
    {"aten::sort", fn<sorted>},
    {"aten::sort.stable",
     [](Lower& on, V x, Opt<bool>, int64_t dim, bool descending) { return sorted(on, x, dim, descending); }},
    {"aten::argsort",
     [](Lower& on, V x, int64_t dim, bool descending) { return std::get<1>(sorted(on, x, dim, descending)); }},
    {"aten::argsort.stable",
     [](Lower& on, V x, bool, int64_t dim, bool descending) { return std::get<1>(sorted(on, x, dim, descending)); }},
    {"aten::cumsum", fn<running_sum>},
    {"aten::nansum", fn<nan_sum>},
    {"aten::nanmean", fn<nan_mean>},
};

}  // namespace

std::span<const Row> reduction_rows() { return table; }

}  // namespace cameo::lowering
