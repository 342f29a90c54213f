// torch, Reduction Ops: sums, products, extrema, variances, norms.
#include <algorithm>

#include "lowering/axes.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

std::tuple<V, V> var_mean(Lower& on, V x, const Opt<Ints>& dims, double correction, bool keep, bool root) {
  const Ints axes = dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x);
  const V v = variance(on, x, axes, correction, keep);
  return {root ? V(on.Sqrt(v)) : v, reduce(on, Reduce::mean, x, axes, keep)};
}

V mean_all(Lower& on, V x, Opt<DType> t) {
  return reduce(on, Reduce::mean, t ? on.to(x, *t) : x, on.all_axes(x), false);
}

V mean(Lower& on, V x, Opt<Ints> dims, bool keepdim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  return reduce(on, Reduce::mean, x, dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x), keepdim);
}

V summed(Lower& on, V x, const Opt<Ints>& dims, bool keepdim, const Opt<DType>& t) {
  if (t) x = on.to(x, *t);
  else if (on.is_int(x) || on.is_bool(x)) x = on.to(x, DType::i64);
  return reduce(on, Reduce::sum, x, dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x), keepdim);
}

// Max, min and sums of bools go through integers.
V reduce_any_type(Lower& on, Reduce kind, V x, const Ints& axes, bool keepdim) {
  if (!on.is_bool(x)) return reduce(on, kind, x, axes, keepdim);
  return on.to(reduce(on, kind, on.to(x, DType::i32), axes, keepdim), DType::boolean);
}

// ONNX Runtime has no ArgMax of bools and 16-bit ints.
V for_place(Lower& on, V x) { return on.is_bool(x) || on.dtype(x) == DType::i16 ? on.to(x, DType::i32) : x; }

template <bool Max>
std::tuple<V, V> extremum_along(Lower& on, V x, int64_t dim, bool keepdim) {
  if (on.rank(x) == 0) return {x, on.On::int_scalar(0)};
  const int64_t axis = on.axis(x, dim);
  const V values = reduce_any_type(on, Max ? Reduce::max : Reduce::min, x, {axis}, keepdim);
  const V numeric = for_place(on, x);
  const V at = Max ? on.ArgMax(numeric, {.axis = axis, .keepdims = keepdim})
                   : on.ArgMin(numeric, {.axis = axis, .keepdims = keepdim});
  return {values, at};
}

template <bool Max>
V arg_extremum(Lower& on, V x, Opt<int64_t> dim, bool keepdim) {
  if (on.rank(x) == 0) return on.On::int_scalar(0);
  x = for_place(on, x);
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
    {"aten::max.dim", fn<extremum_along<true>>},
    {"aten::min", [](Lower& on, V x) { return reduce_any_type(on, Reduce::min, x, on.all_axes(x), false); }},
    {"aten::min.dim", fn<extremum_along<false>>},
    {"aten::amax", [](Lower& on, V x, Ints dims,
                      bool keep) { return reduce_any_type(on, Reduce::max, x, axes_or_all(on, x, dims), keep); }},
    {"aten::amin", [](Lower& on, V x, Ints dims,
                      bool keep) { return reduce_any_type(on, Reduce::min, x, axes_or_all(on, x, dims), keep); }},
    {"aten::aminmax", [](Lower& on, V x, Opt<int64_t> dim, bool keep) {
       const Ints axes = dim && on.rank(x) ? Ints{on.axis(x, *dim)} : on.all_axes(x);
       return std::tuple<V, V>{reduce(on, Reduce::min, x, axes, keep), reduce(on, Reduce::max, x, axes, keep)};
     }},
    {"aten::argmax", fn<arg_extremum<true>>},
    {"aten::argmin", fn<arg_extremum<false>>},
    {"aten::all", [](Lower& on, V x) { return quantified<true>(on, x, on.all_axes(x), false); }},
    {"aten::all.dim",
     [](Lower& on, V x, int64_t d, bool keep) {
       return quantified<true>(on, x, on.rank(x) ? Ints{on.axis(x, d)} : Ints{}, keep);
     }},
    {"aten::all.dims", [](Lower& on, V x, Opt<Ints> d,
                          bool keep) { return quantified<true>(on, x, d ? on.axes(x, *d) : on.all_axes(x), keep); }},
    {"aten::any", [](Lower& on, V x) { return quantified<false>(on, x, on.all_axes(x), false); }},
    {"aten::any.dim",
     [](Lower& on, V x, int64_t d, bool keep) {
       return quantified<false>(on, x, on.rank(x) ? Ints{on.axis(x, d)} : Ints{}, keep);
     }},
    {"aten::any.dims", [](Lower& on, V x, Opt<Ints> d,
                          bool keep) { return quantified<false>(on, x, d ? on.axes(x, *d) : on.all_axes(x), keep); }},
    {"aten::_is_all_true", [](Lower& on, V x) { return quantified<true>(on, x, on.all_axes(x), false); }},
    {"aten::_is_any_true", [](Lower& on, V x) { return quantified<false>(on, x, on.all_axes(x), false); }},
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
    {"aten::var.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased,
                         bool keep) { return variance(on, x, axes_or_all(on, x, d), unbiased, keep); }},
    {"aten::var.correction", [](Lower& on, V x, Opt<Ints> d, Opt<Num> c,
                                bool keep) { return variance(on, x, axes_or_all(on, x, d), correction_of(c), keep); }},
    {"aten::std",
     [](Lower& on, V x, bool unbiased) { return V(on.Sqrt(variance(on, x, on.all_axes(x), unbiased, false))); }},
    {"aten::std.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased,
                         bool keep) { return V(on.Sqrt(variance(on, x, axes_or_all(on, x, d), unbiased, keep))); }},
    {"aten::std.correction",
     [](Lower& on, V x, Opt<Ints> d, Opt<Num> c, bool keep) {
       return V(on.Sqrt(variance(on, x, axes_or_all(on, x, d), correction_of(c), keep)));
     }},
    {"aten::var_mean", [](Lower& on, V x, bool unbiased) { return var_mean(on, x, {}, unbiased, false, false); }},
    {"aten::var_mean.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased, bool keep) { return var_mean(on, x, d, unbiased, keep, false); }},
    {"aten::var_mean.correction", [](Lower& on, V x, Opt<Ints> d, Opt<Num> c, bool keep) { return var_mean(on, x, d, correction_of(c), keep, false); }},
    {"aten::std_mean", [](Lower& on, V x, bool unbiased) { return var_mean(on, x, {}, unbiased, false, true); }},
    {"aten::std_mean.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased, bool keep) { return var_mean(on, x, d, unbiased, keep, true); }},
    {"aten::std_mean.correction", [](Lower& on, V x, Opt<Ints> d, Opt<Num> c, bool keep) { return var_mean(on, x, d, correction_of(c), keep, true); }},
    {"aten::mean", fn<mean_all>},
    {"aten::mean.dim", fn<mean>},
    {"aten::nanmean", fn<nan_mean>},
    {"aten::sum", [](Lower& on, V x, Opt<DType> t) { return summed(on, x, {}, false, t); }},
    {"aten::sum.dim_IntList", [](Lower& on, V x, Opt<Ints> dims, bool keepdim, Opt<DType> t) { return summed(on, x, dims, keepdim, t); }},
    {"aten::nansum", fn<nan_sum>},
    {"aten::norm.Scalar", [](Lower& on, V x, double p) { return vector_norm(on, x, p, on.all_axes(x), false); }},
    {"aten::norm.ScalarOpt_dim",
     [](Lower& on, V x, Opt<double> p, Ints d, bool keep) {
       return vector_norm(on, x, p.value_or(2), axes_or_all(on, x, d), keep);
     }},
    {"aten::dist",
     [](Lower& on, V a, V b, double p) {
       const V d = on.Sub(a, b);
       return vector_norm(on, d, p, on.all_axes(d), false);
     },
     promote(0, 1)},
    {"aten::count_nonzero", [](Lower& on, V x, Opt<int64_t> dim) {
       return reduce(on, Reduce::sum, on.to(on.to(x, DType::boolean), DType::i64), dim ? Ints{on.axis(x, *dim)} : on.all_axes(x), false);
     }},
    {"aten::frobenius_norm.dim",
     [](Lower& on, V x, Ints d, bool keep) {
       return vector_norm(on, x, 2, d.empty() ? on.all_axes(x) : on.axes(x, d), keep);
     }},
};

}  // namespace

std::span<const Row> torch_reduction_rows() { return table; }

}  // namespace cameo::lowering
