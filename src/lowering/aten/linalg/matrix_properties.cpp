// torch.linalg, Matrix Properties: norms, determinants, conditions, ranks.
#include <algorithm>
#include <cmath>

#include "lowering/aten/linalg/matrix.h"
#include "lowering/aten/linalg/spectrum.h"
#include "lowering/axes.h"
#include "lowering/call_row.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V determinant(Lower& on, V x) {
  if (on.dim(x, -1).is(0)) return on.full(without_last(on.shape(x), 2), Num(1.0), on.dtype(x));
  return on.Det(x);
}

V kept_as_ones(Lower& on, V y, Ints axes, bool keepdim) {
  std::sort(axes.begin(), axes.end());
  return keepdim ? on.unsqueeze(y, axes) : y;
}

V matrix_norm(Lower& on, V x, double p, const Ints& dims, bool keepdim) {
  const Ints axes = on.axes(x, dims);
  if (axes.size() != 2) unsupported(cat("a matrix norm over ", axes.size(), " axes"));
  const int64_t summed = std::abs(p) == 1 ? axes[0] : axes[1], kept = std::abs(p) == 1 ? axes[1] : axes[0];
  if (std::abs(p) == 2) {
    const V s = singular_values(on, moved(on, x, axes, {-2, -1}));
    return kept_as_ones(on, reduce(on, p > 0 ? Reduce::max : Reduce::min, s, {on.rank(s) - 1}, false), axes, keepdim);
  }
  if (std::abs(p) != 1 && !std::isinf(p)) unsupported(cat("a matrix norm of order ", p));
  const V sums = reduce(on, Reduce::l1, x, {summed}, true);
  const V y = reduce(on, p > 0 ? Reduce::max : Reduce::min, sums, {kept}, true);
  Ints ordered = axes;
  std::sort(ordered.begin(), ordered.end());
  return keepdim ? y : on.squeeze(y, ordered);
}

V named_norm(Lower& on, V x, const Str& name, const Ints& dims, bool keepdim) {
  if (name == "nuc") {
    const V s = singular_values(on, moved(on, x, on.axes(x, dims), {-2, -1}));
    return kept_as_ones(on, reduce(on, Reduce::sum, s, {on.rank(s) - 1}, false), on.axes(x, dims), keepdim);
  }
  return vector_norm(on, x, 2, on.axes(x, dims), keepdim);
}

V norm(Lower& on, V x, Opt<double> p, Opt<Ints> dims, bool keepdim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  const size_t count = dims ? dims->size() : static_cast<size_t>(on.rank(x));
  if (p && count == 2) return matrix_norm(on, x, *p, dims.value_or(Ints{0, 1}), keepdim);
  return vector_norm(on, x, p.value_or(2), dims ? on.axes(x, *dims) : on.all_axes(x), keepdim);
}

V condition(Lower& on, V a, Opt<double> p) {
  const V s = values_in_double(on, a);
  const int64_t axis = on.rank(s) - 1;
  if (p && std::abs(*p) != 2) unsupported("a condition number of another norm than 2 and -2");
  const V high = reduce(on, Reduce::max, s, {axis}, false), low = reduce(on, Reduce::min, s, {axis}, false);
  return on.to(p.value_or(2) > 0 ? on.Div(high, low) : on.Div(low, high), on.dtype(a));
}

constexpr Row table[] = {
    {"aten::linalg_norm", fn<norm>},
    {"aten::linalg_norm.ord_str",
     [](Lower& on, V x, Str ord, Opt<Ints> d, bool keep, Opt<DType> t) {
       return named_norm(on, t ? on.to(x, *t) : x, ord, d.value_or(Ints{0, 1}), keep);
     }},
    {"aten::linalg_matrix_norm", [](Lower& on, V x, double p, Ints d, bool keep,
                                    Opt<DType> t) { return matrix_norm(on, t ? on.to(x, *t) : x, p, d, keep); }},
    {"aten::linalg_matrix_norm.str_ord",
     [](Lower& on, V x, Str ord, Ints d, bool keep, Opt<DType> t) {
       return named_norm(on, t ? on.to(x, *t) : x, ord, d, keep);
     }},
    {"aten::linalg_vector_norm",
     [](Lower& on, V x, double p, Opt<Ints> d, bool keep, Opt<DType> t) {
       return vector_norm(on, t ? on.to(x, *t) : x, p, axes_or_all(on, x, d), keep);
     }},
    {"aten::linalg_det", fn<determinant>},
    {"aten::det", fn<determinant>},
    {"aten::_linalg_det",
     [](Lower& on, V x) {
       const auto r = call_row(on, "aten::linalg_lu_factor", {Arg(x), Arg(true)});
       return std::tuple<V, V, V>{result(call_row(on, "aten::linalg_det", {Arg(x)})), result(r, 0), result(r, 1)};
     }},
    {"aten::logdet", [](Lower& on, V x) { return V(on.Log(determinant(on, x))); }},
    {"aten::linalg_slogdet",
     [](Lower& on, V x) {
       const V d = determinant(on, x);
       return std::tuple<V, V>{on.Sign(d), on.Log(on.Abs(d))};
     }},
    {"aten::slogdet",
     [](Lower& on, V x) {
       const V d = determinant(on, x);
       return std::tuple<V, V>{on.Sign(d), on.Log(on.Abs(d))};
     }},
    {"aten::_linalg_slogdet",
     [](Lower& on, V x) {
       const auto r = call_row(on, "aten::linalg_lu_factor", {Arg(x), Arg(true)}),
                  d = call_row(on, "aten::linalg_slogdet", {Arg(x)});
       return std::tuple<V, V, V, V>{result(d, 0), result(d, 1), result(r, 0), result(r, 1)};
     }},
    {"aten::linalg_cond", fn<condition>},
    {"aten::linalg_matrix_rank",
     [](Lower& on, V a, double tol, bool h) {
       return matrix_rank(on, a, staged_number(on, tol), staged_number(on, 0.0), h);
     }},
    {"aten::linalg_matrix_rank.atol_rtol_float",
     [](Lower& on, V a, Opt<double> atol, Opt<double> rtol, bool h) {
       return matrix_rank(on, a, staged_number(on, atol), staged_number(on, rtol), h);
     }},
    {"aten::linalg_matrix_rank.atol_rtol_tensor",
     [](Lower& on, V a, Opt<V> atol, Opt<V> rtol, bool h) { return matrix_rank(on, a, atol, rtol, h); }},
};

}  // namespace

std::span<const Row> linalg_matrix_properties_rows() { return table; }

}  // namespace cameo::lowering
