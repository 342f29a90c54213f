// torch, Pointwise Ops: arithmetic, signs, rounding.
#include <cmath>
#include <numbers>

#include "ir/number_format.h"
#include "lowering/arithmetic.h"
#include "lowering/aten/special/series.h"
#include "lowering/axes.h"
#include "lowering/complex.h"
#include "lowering/elementary.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V real(Lower& on, V x) { return parts_of(on, x).re; }

V imag(Lower& on, V x) {
  if (!is_complex(on.dtype(x))) unsupported("the imaginary part of a real tensor");
  return imaginary_of(on, parts_of(on, x));
}

V direction(Lower& on, V x) {
  if (is_complex(on.dtype(x))) {
    const V size = on.Abs(x);
    return on.Div(x,
                  on.to(on.Where(on.Equal(size, on.number_like(0, size)), on.number_like(1, size), size), on.dtype(x)));
  }
  return on.is_bool(x) ? x : V(on.Sign(x));
}

V sign(Lower& on, V x) { return on.is_bool(x) ? x : V(on.Sign(x)); }

// A whole divisor that is 0 only where there is nothing to divide, as a size may be: runtimes fail or stop there,
// PyTorch does not.
V divisor(Lower& on, V a, V b) {
  if (on.is_float(a) || on.rank(b) > 0) return b;
  const auto& facts = on.graph().facts;
  const auto& sizes = on.shape(a);
  if (std::any_of(sizes.begin(), sizes.end(), [](Dim d) { return d.is(0); })) return on.number_like(1, b);
  if (std::all_of(sizes.begin(), sizes.end(), [&](Dim d) { return facts.less(Dim(0), d) == Answer::yes; })) return b;
  if (on.is_int(b) && facts.less(Dim(0), on.int_of(on.to(b, DType::i64))) == Answer::yes) return b;
  if (on.graph()[b].kind == ir::Value::Kind::initializer) return b;
  return on.Where(on.Equal(b, on.number_like(0, b)), on.number_like(1, b), b);
}

V fmod(Lower& on, V a, V b) {
  b = divisor(on, a, b);
  if (is_unsigned_int(on.dtype(a))) return on.Mod(a, b);
  return on.Mod(a, b, {.fmod = 1});
}

V log_add_exp(Lower& on, V a, V b, double base) {
  const std::vector<ValueId> both{a, b};
  const V hi = on.Max(both), lo = on.Min(both);
  const V scale = on.number_like(std::log(base), a);
  const V d = on.Sub(lo, hi);
  const V y = on.Add(hi, on.Div(log1p(on, on.Exp(on.Mul(d, scale))), scale));
  return on.Where(on.Or(on.Equal(a, b), is_inf(on, hi, true, true)),
                  on.Where(is_inf(on, hi, true, true), hi, on.Add(hi, on.number_like(std::log(2) / std::log(base), a))),
                  y);
}

V round_to(Lower& on, V x, int64_t decimals) {
  if (!on.is_float(x) || decimals == 0) return on.is_float(x) ? V(on.Round(x)) : x;
  const double ten = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  const V scale = on.number_like(ten, x);
  return decimals > 0 ? V(on.Div(on.Round(on.Mul(x, scale)), scale)) : V(on.Mul(on.Round(on.Div(x, scale)), scale));
}

V nan_to_num(Lower& on, V x, const Opt<double>& nan, const Opt<double>& high, const Opt<double>& low) {
  if (!on.is_float(x)) return x;
  const double most = largest_finite(on.dtype(x));
  x = on.Where(is_nan(on, x), on.number_like(nan.value_or(0), x), x);
  x = on.Where(is_inf(on, x, true, false), on.number_like(high.value_or(most), x), x);
  return on.Where(is_inf(on, x, false, true), on.number_like(low.value_or(-most), x), x);
}

V lerp(Lower& on, V a, V b, V w) { return on.Add(a, on.Mul(w, on.Sub(b, a))); }

V scaled(Lower& on, V b, const Num& alpha) { return alpha.is(1) ? b : V(on.Mul(b, on.scalar_like(alpha, b))); }

V add(Lower& on, V a, V b, Num alpha) {
  if (on.is_bool(a)) return on.Or(a, b);
  return on.Add(a, scaled(on, b, alpha));
}

V multiply(Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.Mul(a, b)); }

V sub(Lower& on, V a, V b, Num alpha) { return on.Sub(a, scaled(on, b, alpha)); }

V floor_divide(Lower& on, V a, V b) {
  if (on.is_float(a)) return on.Floor(on.Div(a, b));
  b = divisor(on, a, b);
  if (is_unsigned_int(on.dtype(a))) return on.Div(a, b);
  // Div truncates; one less where the signs differ and something is left over. Mod has the divisor's sign.
  return on.Div(on.Sub(a, on.Mod(a, b)), b);
}

V divide(Lower& on, V a, V b, const Opt<Str>& mode) {
  if (!mode) {
    if (!on.is_float(a)) a = on.to(a, default_float), b = on.to(b, default_float);
    return on.Div(a, b);
  }
  if (*mode == "floor") return floor_divide(on, a, b);
  if (!on.is_float(a)) return on.Div(a, divisor(on, a, b));
  const V q = on.Div(a, b);
  return on.Mul(on.Sign(q), on.Floor(on.Abs(q)));
}

V remainder(Lower& on, V a, V b) {
  if (!on.is_float(a)) return on.Mod(a, divisor(on, a, b));
  return on.Sub(a, on.Mul(on.Floor(on.Div(a, b)), b));
}

// Whole numbers become floats where a bound is one.
V clamp_to(Lower& on, V x, const Opt<Num>& lo, const Opt<Num>& hi) {
  const auto is_float = [](const Opt<Num>& n) { return n && n->is_float(); };
  if (!on.is_float(x) && (is_float(lo) || is_float(hi))) x = on.to(x, default_float);
  else if (on.is_bool(x)) x = on.to(x, DType::i64);
  return clip(on, x, lo, hi);
}

V clamp(Lower& on, V x, const Opt<V>& lo, const Opt<V>& hi) {
  if (lo) x = on.Max(std::vector<ValueId>{x, *lo});
  if (hi) x = on.Min(std::vector<ValueId>{x, *hi});  // last, so hi wins when lo > hi
  return x;
}

// Central differences inside, one-sided ones of the asked order at both ends.
V slope(Lower& on, V x, int64_t axis, const Num& spacing, int64_t edge_order) {
  const Dim n = on.dim(x, axis);
  const V h = on.scalar_like(spacing, x), h2 = on.Mul(h, on.number_like(2, x));
  const auto at = [&](Dim i) { return on.slice(x, axis, i, i + Dim(1)); };
  const V inside = on.Div(on.Sub(trimmed(on, x, axis, Dim(2), Dim(0)), trimmed(on, x, axis, Dim(0), Dim(2))), h2);
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

std::tuple<V, V> mantissa_exponent(Lower& on, V x) {
  const V zero = on.number_like(0, x), one = on.number_like(1, x), half = on.number_like(0.5, x),
          still = on.Or(on.Equal(x, zero), on.Or(on.IsInf(x), on.IsNaN(x)));
  const V safe = on.Where(still, one, x);
  V e = plus(on, on.Floor(times(on, on.Log(on.Abs(safe)), 1 / std::numbers::ln2)), 1);
  V m = on.Div(safe, on.Pow(on.number_like(2, x), e));
  // The logarithm may be off by one next to a power of two.
  const V high = on.GreaterOrEqual(on.Abs(m), one), low = on.Less(on.Abs(m), half);
  m = on.Where(high, times(on, m, 0.5), on.Where(low, times(on, m, 2), m));
  e = on.Where(high, plus(on, e, 1), on.Where(low, plus(on, e, -1), e));
  return {on.Where(still, x, m), on.to(on.Where(still, zero, e), DType::i32)};
}

// ONNX Runtime has no powers of short integers: they are computed long, and cut as PyTorch's overflow.
V power(Lower& on, V a, V b) {
  const DType t = on.dtype(a);
  if (!on.is_int(a) || t == DType::i32 || t == DType::i64) return on.Pow(a, b);
  return on.to(on.Pow(on.to(a, DType::i64), on.to(b, DType::i64)), t);
}

constexpr Row table[] = {
    {"aten::add.Tensor", fn<add>, promote(0, 1)},
    {"aten::add.Scalar", fn<add>, promote(0, 1)},
    {"aten::sub.Tensor", fn<sub>, promote(0, 1)},
    {"aten::sub.Scalar", fn<sub>, promote(0, 1)},
    {"aten::rsub.Tensor", [](Lower& on, V a, V b, Num alpha) { return sub(on, b, a, alpha); }, promote(0, 1)},
    {"aten::rsub.Scalar", [](Lower& on, V a, V b, Num alpha) { return sub(on, b, a, alpha); }, promote(0, 1)},
    {"aten::mul.Tensor", fn<multiply>, promote(0, 1)},
    {"aten::mul.Scalar", fn<multiply>, promote(0, 1)},
    {"aten::div.Tensor", [](Lower& on, V a, V b) { return V(on.Div(a, b)); }, promote_float(0, 1)},
    {"aten::div.Scalar", [](Lower& on, V a, V b) { return V(on.Div(a, b)); }, promote_float(0, 1)},
    {"aten::div.Tensor_mode", fn<divide>, promote(0, 1)},
    {"aten::div.Scalar_mode", fn<divide>, promote(0, 1)},
    {"aten::floor_divide", fn<floor_divide>, promote(0, 1)},
    {"aten::floor_divide.Scalar", fn<floor_divide>, promote(0, 1)},
    {"aten::remainder.Tensor", fn<remainder>, promote(0, 1)},
    {"aten::remainder.Scalar", fn<remainder>, promote(0, 1)},
    {"aten::fmod.Tensor", fn<fmod>, promote(0, 1)},
    {"aten::fmod.Scalar", fn<fmod>, promote(0, 1)},
    {"aten::pow.Tensor_Tensor", fn<power>, promote(0, 1)},
    {"aten::pow.Tensor_Scalar", fn<power>, promote(0, 1)},
    {"aten::pow.Scalar", fn<power>, promote(0, 1)},
    {"aten::float_power.Tensor_Tensor",
     [](Lower& on, V a, V b) { return V(on.Pow(on.to(a, DType::f64), on.to(b, DType::f64))); }},
    {"aten::float_power.Tensor_Scalar",
     [](Lower& on, V a, Num b) { return V(on.Pow(on.to(a, DType::f64), on.scalar(b, DType::f64))); }},
    {"aten::clamp", fn<clamp_to>},
    {"aten::clamp.Tensor", [](Lower& on, V x, Opt<V> lo, Opt<V> hi) { return clamp(on, x, lo, hi); }, promote(0, 1, 2)},
    {"aten::clamp_min.Tensor",
     [](Lower& on, V a, V b) {
       return V(on.Max(std::vector<ValueId>{a, b}));
     },
     promote(0, 1)},
    {"aten::clamp_min", [](Lower& on, V x, Num lo) { return clamp_to(on, x, lo, {}); }},
    {"aten::clamp_max.Tensor",
     [](Lower& on, V a, V b) {
       return V(on.Min(std::vector<ValueId>{a, b}));
     },
     promote(0, 1)},
    {"aten::clamp_max", [](Lower& on, V x, Num hi) { return clamp_to(on, x, {}, hi); }},
    {"aten::addcmul",
     [](Lower& on, V x, V a, V b, Num v) {
       const V p = on.Mul(a, b);
       return V(on.Add(x, v.is(1) ? p : V(on.Mul(p, on.scalar_like(v, p)))));
     },
     promote(0, 1, 2)},
    {"aten::addcdiv",
     [](Lower& on, V x, V a, V b, Num v) {
       const V q = on.Div(a, b);
       return V(on.Add(x, v.is(1) ? q : V(on.Mul(q, on.scalar_like(v, q)))));
     },
     promote_float(0, 1, 2)},
    {"aten::lerp.Scalar", fn<lerp>, promote(0, 1, 2)},
    {"aten::lerp.Tensor", fn<lerp>, promote(0, 1, 2)},
    {"aten::logaddexp", [](Lower& on, V a, V b) { return log_add_exp(on, a, b, std::numbers::e); },
     promote_float(0, 1)},
    {"aten::logaddexp2", [](Lower& on, V a, V b) { return log_add_exp(on, a, b, 2); }, promote_float(0, 1)},
    {"aten::ldexp.Tensor", [](Lower& on, V a, V b) { return V(on.Mul(a, on.Pow(on.number_like(2, a), b))); },
     promote_float(0, 1)},
    {"aten::hypot", [](Lower& on, V a, V b) { return V(on.Sqrt(on.Add(on.Mul(a, a), on.Mul(b, b)))); }, promote(0, 1)},
    {"aten::square",
     [](Lower& on, V x) {
       const V v = on.is_bool(x) ? on.to(x, DType::i64) : x;
       return V(on.Mul(v, v));
     }},
    {"aten::reciprocal", [](Lower& on, V x) { return V(on.Reciprocal(x)); }, promote_float(0)},
    {"aten::rsqrt", [](Lower& on, V x) { return V(on.Reciprocal(on.Sqrt(x))); }, promote_float(0)},
    {"aten::sqrt", [](Lower& on, V x) { return V(on.Sqrt(x)); }, promote_float(0)},
    {"aten::abs", [](Lower& on, V x) { return V(on.Abs(x)); }},
    {"aten::neg", [](Lower& on, V x) { return V(on.Neg(x)); }},
    {"aten::positive", [](Lower&, V x) { return x; }},
    {"aten::sign", fn<sign>},
    {"aten::sgn", fn<direction>},
    {"aten::signbit",
     [](Lower& on, V x) {
       if (on.is_bool(x)) return V(on.And(x, on.Not(x)));
       const V negative = on.Less(x, on.number_like(0, x));
       // The reciprocal tells minus zero from zero.
       return on.is_float(x) ? V(on.Or(negative, on.And(on.Equal(x, on.number_like(0, x)),
                                                        on.Less(on.Reciprocal(x), on.number_like(0, x)))))
                             : negative;
     }},
    {"aten::copysign.Tensor", fn<copysign>, promote_float(0, 1)},
    {"aten::copysign.Scalar", fn<copysign>, promote_float(0, 1)},
    {"aten::nan_to_num", fn<nan_to_num>},
    {"aten::real", fn<real>},
    {"aten::imag", fn<imag>},
    {"aten::angle",
     [](Lower& on, V x) {
       if (is_complex(on.dtype(x))) return phase_of(on, x);
       const V turned = on.Where(on.Less(x, on.number_like(0, x)), on.number_like(pi, x), on.number_like(0, x));
       return V(on.Where(on.IsNaN(x), x, turned));
     },
     promote_float(0)},
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
    {"aten::ceil", [](Lower& on, V x) { return on.is_float(x) ? V(on.Ceil(x)) : x; }},
    {"aten::floor", [](Lower& on, V x) { return on.is_float(x) ? V(on.Floor(x)) : x; }},
    {"aten::trunc", fn<truncated>},
    {"aten::fix", fn<truncated>},
    {"aten::frac", [](Lower& on, V x) { return V(on.Sub(x, truncated(on, x))); }},
    {"aten::round.decimals", fn<round_to>},
    {"aten::round", [](Lower& on, V x) { return on.is_float(x) ? V(on.Round(x)) : x; }},
    {"aten::frexp.Tensor", fn<mantissa_exponent>, promote_float(0)},
};

}  // namespace

std::span<const Row> torch_pointwise_arithmetic_rows() { return table; }

}  // namespace cameo::lowering
