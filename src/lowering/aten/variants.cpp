// Other spellings of what other tables lower, and what follows from them; windows of signals; questions about tensors.
#include <cmath>
#include <numbers>

#include "kernels/carrier.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// Calls another row with its first arguments; the rest is None.
std::vector<Arg> as(Lower& on, std::string_view overload, std::vector<Arg> args) {
  const Row* row = find_row(overload);
  const Schema* schema = find_schema(overload);
  invariant(row && schema, cat("a row for ", overload));
  args.resize(schema->params.size());
  return lower_call(on, *row, {schema, std::move(args)});
}
V value(const std::vector<Arg>& results, size_t i = 0) { return *results[i].as<V>(); }
Arg optional(const Opt<V>& v) { return v ? Arg(*v) : Arg(); }
Arg optional(const Opt<DType>& t) { return t ? Arg(Dim(torch_from_dtype(*t))) : Arg(); }

template <class F>
V window(Lower& on, int64_t n, bool periodic, const Opt<DType>& t, const F& at) {
  std::vector<double> values;
  const double period = static_cast<double>(periodic ? n : n - 1);
  for (int64_t i = 0; i < n; ++i) values.push_back(n == 1 ? 1.0 : at(static_cast<double>(i) / period));
  return on.constant(store(t.value_or(default_float), {n}, values));
}
template <int Which>
double shape_at(double x) {
  const double turn = 2 * std::numbers::pi * x;
  if constexpr (Which == 0) return 0.5 - 0.5 * std::cos(turn);
  if constexpr (Which == 1) return 0.54 - 0.46 * std::cos(turn);
  if constexpr (Which == 2) return 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn);
  return 1 - std::abs(2 * x - 1);
}
template <int Which>
V periodic_window(Lower& on, int64_t n, Opt<DType> t) {
  return window(on, n, true, t, shape_at<Which>);
}
template <int Which>
V any_window(Lower& on, int64_t n, bool periodic, Opt<DType> t) {
  return window(on, n, periodic, t, shape_at<Which>);
}
double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 60; ++k) sum += term *= (x / 2 / k) * (x / 2 / k);
  return sum;
}
V kaiser(Lower& on, int64_t n, bool periodic, double beta, const Opt<DType>& t) {
  return window(on, n, periodic, t, [&](double x) {
    return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - (2 * x - 1) * (2 * x - 1)))) / bessel_i0(beta);
  });
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

// Rows of x belong to matrices by their number: group g ends before row ends[g]. Rows after the last group are zero.
V grouped_product(Lower& on, V x, V w, Opt<V> ends, Opt<V> bias, Opt<DType> t) {
  if (!ends || on.rank(x) != 2 || on.rank(w) != 3 || bias) unsupported("_grouped_mm in this form");
  const int64_t groups = known_size(on, w, 0, "_grouped_mm");
  Vs parts;
  Dim before(0);
  for (int64_t g = 0; g < groups; ++g) {
    const Dim end = on.int_of(on.to(on.gather_scalar(*ends, 0, Dim(g)), DType::i64));
    parts.push_back(on.MatMul(on.slice(x, 0, before, end), on.gather_scalar(w, 0, Dim(g))));
    before = end;
  }
  parts.push_back(on.expand(on.number_like(0, x), {on.dim(x, 0) - before, on.dim(w, 2)}));
  const V y = on.concat(parts, 0);
  return t ? on.to(y, *t) : y;
}

// x is [time, batch, channels], the weight [width, channels, outputs].
V time_convolution(Lower& on, V x, V w, V bias, int64_t pad) {
  const V y = on.Conv(on.transpose(x, {1, 2, 0}), on.transpose(w, {2, 1, 0}), bias, {.pads = Ints{pad, pad}});
  return on.transpose(y, {2, 0, 1});
}

std::tuple<V, V, V, V> bag(Lower& on, V table, V at, V offsets, bool, int64_t mode, bool, Opt<V> weights, bool last,
                           int64_t padding) {
  const auto r = as(on, "aten::embedding_bag.padding_idx",
                    {Arg(table), Arg(at), Arg(offsets), Arg(false), Arg(Dim(mode)), Arg(false), optional(weights),
                     Arg(last), padding < 0 ? Arg() : Arg(Dim(padding))});
  return {value(r, 0), value(r, 1), value(r, 2), value(r, 3)};
}
std::tuple<V, V> nll_with_weight(Lower& on, V x, V target, Opt<V> weight, int64_t reduction, Dim ignored) {
  const V loss =
      value(as(on, "aten::nll_loss_nd", {Arg(x), Arg(target), optional(weight), Arg(Dim(reduction)), Arg(ignored)}));
  const V counted = on.Not(on.Equal(target, on.int_scalar(ignored)));
  const V each = weight ? V(on.Gather(*weight, on.Where(counted, target, on.On::int_scalar(0)), {.axis = 0}))
                        : on.number_like(1, x);
  const V total = reduce(on, Reduce::sum, on.Where(counted, each, on.number_like(0, x)), on.all_axes(target), false);
  return {loss, reduction == 0 ? on.full({}, Num(0.0), on.dtype(x)) : total};
}

V same(Lower&, V x) { return x; }

constexpr Row table[] = {
    {"aten::_log_softmax",
     [](Lower& on, V x, int64_t dim) {
       return value(as(on, "aten::log_softmax.int", {Arg(x), Arg(Dim(dim))}));
     }},
    {"aten::special_log_softmax",
     [](Lower& on, V x, int64_t dim, Opt<DType> t) {
       return value(as(on, "aten::log_softmax.int", {Arg(x), Arg(Dim(dim)), optional(t)}));
     }},
    {"aten::special_softmax",
     [](Lower& on, V x, int64_t dim, Opt<DType> t) {
       return value(as(on, "aten::softmax.int", {Arg(x), Arg(Dim(dim)), optional(t)}));
     }},
    {"aten::_dim_arange", [](Lower& on, V x, int64_t dim) { return iota(on, on.dim(x, dim)); }},
    {"aten::_prelu_kernel", [](Lower& on, V x, V w) { return V(on.PRelu(x, w)); }},
    {"aten::_unique",
     [](Lower& on, V x, bool, bool inverse) {
       const auto r = as(on, "aten::_unique2", {Arg(x), Arg(true), Arg(inverse), Arg(false)});
       return std::tuple<V, V>{value(r, 0), value(r, 1)};
     }},
    {"aten::_linalg_det",
     [](Lower& on, V x) {
       const auto r = as(on, "aten::linalg_lu_factor", {Arg(x), Arg(true)});
       return std::tuple<V, V, V>{value(as(on, "aten::linalg_det", {Arg(x)})), value(r, 0), value(r, 1)};
     }},
    {"aten::_linalg_slogdet",
     [](Lower& on, V x) {
       const auto r = as(on, "aten::linalg_lu_factor", {Arg(x), Arg(true)}),
                  d = as(on, "aten::linalg_slogdet", {Arg(x)});
       return std::tuple<V, V, V, V>{value(d, 0), value(d, 1), value(r, 0), value(r, 1)};
     }},
    {"aten::_linalg_solve_ex",
     [](Lower& on, V a, V b, bool left) {
       const auto r = as(on, "aten::linalg_lu_factor", {Arg(a), Arg(true)}),
                  s = as(on, "aten::linalg_solve_ex", {Arg(a), Arg(b), Arg(left), Arg(false)});
       return std::tuple<V, V, V, V>{value(s, 0), value(r, 0), value(r, 1), value(s, 1)};
     }},
    {"aten::_linalg_eigh",
     [](Lower& on, V a, Str which, bool vectors) {
       if (vectors) unsupported("eigenvectors");
       return std::tuple<V, V>{value(as(on, "aten::linalg_eigvalsh", {Arg(a), Arg(which)})),
                               on.full({Dim(0)}, Num(0.0), on.dtype(a))};
     }},
    {"aten::_to_copy",
     [](Lower& on, V x, Opt<DType> t) {
       return t ? value(as(on, "aten::to.dtype", {Arg(x), optional(t)})) : x;
     }},
    {"aten::lift", fn<same>},
    {"aten::lift_fresh_copy", fn<same>},
    {"aten::reflection_pad3d",
     [](Lower& on, V x, Dims pads) {
       std::vector<Arg> sizes(pads.begin(), pads.end());
       return value(as(on, "aten::pad", {Arg(x), Arg::list(std::move(sizes)), Arg(Str("reflect"))}));
     }},
    {"aten::_embedding_bag", fn<bag>},
    {"aten::_embedding_bag_forward_only", fn<bag>},
    {"aten::nll_loss_forward", fn<nll_with_weight>},
    {"aten::nll_loss2d_forward", fn<nll_with_weight>},
    {"aten::_grouped_mm", fn<grouped_product>},
    {"transformers::grouped_mm_fallback",
     [](Lower& on, V x, V w, V ends) {
       return grouped_product(on, x, w, ends, {}, {});
     }},  // transformers 5, of all mixtures of experts
    {"aten::conv_tbc", fn<time_convolution>},
    {"aten::is_nonzero", [](Lower& on, V x) { return answer(on.to(on.reshape(x, {}), DType::boolean)); }},
    {"aten::equal", fn<equal>, promote(0, 1)},
    {"aten::allclose", fn<all_close>, promote(0, 1)},
    {"aten::hann_window", fn<periodic_window<0>>},
    {"aten::hann_window.periodic", fn<any_window<0>>},
    {"aten::hamming_window", fn<periodic_window<1>>},
    {"aten::hamming_window.periodic", fn<any_window<1>>},
    {"aten::blackman_window", fn<periodic_window<2>>},
    {"aten::blackman_window.periodic", fn<any_window<2>>},
    {"aten::bartlett_window", fn<periodic_window<3>>},
    {"aten::bartlett_window.periodic", fn<any_window<3>>},
    {"aten::kaiser_window", [](Lower& on, int64_t n, Opt<DType> t) { return kaiser(on, n, true, 12, t); }},
    {"aten::kaiser_window.periodic",
     [](Lower& on, int64_t n, bool p, Opt<DType> t) { return kaiser(on, n, p, 12, t); }},
    {"aten::kaiser_window.beta",
     [](Lower& on, int64_t n, bool p, double beta, Opt<DType> t) { return kaiser(on, n, p, beta, t); }},
};

}  // namespace

std::span<const Row> variant_rows() { return table; }

}  // namespace cameo::lowering
