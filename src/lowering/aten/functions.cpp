// Further functions of one and two numbers, element by element.
#include <cmath>
#include <limits>
#include <numbers>

#include "ir/number_format.h"
#include "lowering/elementary.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V is_nan(Lower& on, V x) { return on.is_float(x) ? V(on.IsNaN(x)) : V(on.Not(on.Equal(x, x))); }

V sign(Lower& on, V x) { return on.is_bool(x) ? x : V(on.Sign(x)); }
V fmod(Lower& on, V a, V b) {
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
V xlogy(Lower& on, V x, V y) {
  return on.Where(on.And(on.Equal(x, on.number_like(0, x)), on.Not(is_nan(on, y))), on.number_like(0, x),
                  on.Mul(x, on.Log(y)));
}
V shift(Lower& on, V a, V b, bool left) {
  if (is_unsigned_int(on.dtype(a))) return on.BitShift(a, b, op::BitShift{.direction = left ? "LEFT" : "RIGHT"});
  // Signed integers: by powers of two. A right shift rounds down.
  const V factor = on.to(on.Pow(on.number(2, DType::f64), on.to(b, DType::f64)), on.dtype(a));
  if (left) return on.Mul(a, factor);
  return on.Div(on.Sub(a, on.Mod(a, factor)), factor);
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
V heaviside(Lower& on, V x, V at_zero) {
  const V zero = on.number_like(0, x);
  return on.Where(on.Equal(x, zero), at_zero, on.to(on.Greater(x, zero), on.dtype(x)));
}
V lerp(Lower& on, V a, V b, V w) { return on.Add(a, on.Mul(w, on.Sub(b, a))); }
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
V sinc(Lower& on, V x) {
  const V p = on.Mul(x, on.number_like(std::numbers::pi, x)), zero = on.Equal(x, on.number_like(0, x));
  return on.Where(zero, on.number_like(1, x), on.Div(on.Sin(p), on.Where(zero, on.number_like(1, x), p)));
}
V logit(Lower& on, V x, const Opt<double>& eps) {
  if (eps) x = on.Clip(x, on.number_like(*eps, x), on.number_like(1 - *eps, x));
  return on.Log(on.Div(x, on.Sub(on.number_like(1, x), x)));
}
V mul_scalar(Lower& on, V x, double v) { return on.Mul(x, on.number_like(v, x)); }

constexpr Row table[] = {
    {"aten::sign", fn<sign>}, {"aten::trunc", fn<truncated>}, {"aten::fix", fn<truncated>},
    {"aten::frac", [](Lower& on, V x) { return V(on.Sub(x, truncated(on, x))); }},
    {"aten::positive", [](Lower&, V x) { return x; }},
    {"aten::isreal", [](Lower& on, V x) { return on.full(on.shape(x), Num(Arg(true)), DType::boolean); }},
    {"aten::tan", fn<tan>, promote_float(0)}, {"aten::asin", fn<asin>, promote_float(0)},
    {"aten::acos", fn<acos>, promote_float(0)}, {"aten::atan", fn<atan>, promote_float(0)},
    {"aten::sinh", fn<sinh>, promote_float(0)}, {"aten::cosh", fn<cosh>, promote_float(0)},
    {"aten::asinh", fn<asinh>, promote_float(0)}, {"aten::acosh", fn<acosh>, promote_float(0)},
    {"aten::atanh", fn<atanh>, promote_float(0)},
    {"aten::atan2", fn<atan2>, promote_float(0, 1)},
    {"aten::exp2", [](Lower& on, V x) { return V(on.Pow(on.number_like(2, x), x)); }, promote_float(0)},
    {"aten::expm1", fn<expm1>, promote_float(0)}, {"aten::log1p", fn<log1p>, promote_float(0)},
    {"aten::log2", fn<log2>, promote_float(0)}, {"aten::log10", fn<log10>, promote_float(0)},
    {"aten::erfc", fn<erfc>, promote_float(0)},
    {"aten::special_ndtr", [](Lower& on, V x) { return mul_scalar(on, on.Add(on.number_like(1, x), erf(on, mul_scalar(on, x, 1 / std::numbers::sqrt2))), 0.5); }, promote_float(0)},
    {"aten::special_entr", [](Lower& on, V x) {
       const V zero = on.number_like(0, x);
       const V inside = on.Where(on.Equal(x, zero), zero, on.Neg(on.Mul(x, on.Log(x))));
       return V(on.Where(on.Less(x, zero), on.number_like(-std::numeric_limits<double>::infinity(), x), inside));
     }, promote_float(0)},
    {"aten::deg2rad", [](Lower& on, V x) { return mul_scalar(on, x, std::numbers::pi / 180); }, promote_float(0)},
    {"aten::rad2deg", [](Lower& on, V x) { return mul_scalar(on, x, 180 / std::numbers::pi); }, promote_float(0)},
    {"aten::sinc", fn<sinc>, promote_float(0)},
    {"aten::logit", fn<logit>, promote_float(0)},
    {"aten::isnan", fn<is_nan>},
    {"aten::isinf", [](Lower& on, V x) { return is_inf(on, x, true, true); }},
    {"aten::isposinf", [](Lower& on, V x) { return is_inf(on, x, true, false); }},
    {"aten::isneginf", [](Lower& on, V x) { return is_inf(on, x, false, true); }},
    {"aten::isfinite", [](Lower& on, V x) { return V(on.Not(on.Or(is_inf(on, x, true, true), is_nan(on, x)))); }},
    {"aten::signbit", [](Lower& on, V x) {
       if (on.is_bool(x)) return V(on.And(x, on.Not(x)));
       const V negative = on.Less(x, on.number_like(0, x));
       // The reciprocal tells minus zero from zero.
       return on.is_float(x) ? V(on.Or(negative, on.And(on.Equal(x, on.number_like(0, x)), on.Less(on.Reciprocal(x), on.number_like(0, x))))) : negative;
     }},
    {"aten::isclose", fn<is_close>, promote(0, 1)},
    {"aten::nan_to_num", fn<nan_to_num>},
    {"aten::round.decimals", fn<round_to>},
    {"aten::fmod.Tensor", fn<fmod>, promote(0, 1)}, {"aten::fmod.Scalar", fn<fmod>, promote(0, 1)},
    {"aten::fmax", [](Lower& on, V a, V b) { return fextremum(on, a, b, true); }, promote(0, 1)},
    {"aten::fmin", [](Lower& on, V a, V b) { return fextremum(on, a, b, false); }, promote(0, 1)},
    {"aten::clamp_min.Tensor", [](Lower& on, V a, V b) { return V(on.Max(std::vector<ValueId>{a, b})); }, promote(0, 1)},
    {"aten::clamp_max.Tensor", [](Lower& on, V a, V b) { return V(on.Min(std::vector<ValueId>{a, b})); }, promote(0, 1)},
    {"aten::hypot", [](Lower& on, V a, V b) { return V(on.Sqrt(on.Add(on.Mul(a, a), on.Mul(b, b)))); }, promote(0, 1)},
    {"aten::copysign.Tensor", fn<copysign>, promote_float(0, 1)}, {"aten::copysign.Scalar", fn<copysign>, promote_float(0, 1)},
    {"aten::heaviside", fn<heaviside>, promote(0, 1)},
    {"aten::xlogy.Tensor", fn<xlogy>, promote_float(0, 1)}, {"aten::xlogy.Scalar_Other", fn<xlogy>, promote_float(0, 1)}, {"aten::xlogy.Scalar_Self", fn<xlogy>, promote_float(0, 1)},
    {"aten::special_xlog1py", [](Lower& on, V x, V y) {
       return V(on.Where(on.And(on.Equal(x, on.number_like(0, x)), on.Not(is_nan(on, y))), on.number_like(0, x), on.Mul(x, log1p(on, y))));
     }, promote_float(0, 1)},
    {"aten::logaddexp", [](Lower& on, V a, V b) { return log_add_exp(on, a, b, std::numbers::e); }, promote_float(0, 1)},
    {"aten::logaddexp2", [](Lower& on, V a, V b) { return log_add_exp(on, a, b, 2); }, promote_float(0, 1)},
    {"aten::ldexp.Tensor", [](Lower& on, V a, V b) { return V(on.Mul(a, on.Pow(on.number_like(2, a), b))); }, promote_float(0, 1)},
    {"aten::float_power.Tensor_Tensor", [](Lower& on, V a, V b) { return V(on.Pow(on.to(a, DType::f64), on.to(b, DType::f64))); }},
    {"aten::float_power.Tensor_Scalar", [](Lower& on, V a, Num b) { return V(on.Pow(on.to(a, DType::f64), on.scalar(b, DType::f64))); }},
    {"aten::lerp.Scalar", fn<lerp>, promote(0, 1, 2)}, {"aten::lerp.Tensor", fn<lerp>, promote(0, 1, 2)},
    {"aten::addcmul", [](Lower& on, V x, V a, V b, Num v) { const V p = on.Mul(a, b); return V(on.Add(x, v.is(1) ? p : V(on.Mul(p, on.scalar_like(v, p))))); }, promote(0, 1, 2)},
    {"aten::addcdiv", [](Lower& on, V x, V a, V b, Num v) { const V q = on.Div(a, b); return V(on.Add(x, v.is(1) ? q : V(on.Mul(q, on.scalar_like(v, q))))); }, promote_float(0, 1, 2)},
    {"aten::logical_xor", [](Lower& on, V a, V b) { return V(on.Xor(on.to(a, DType::boolean), on.to(b, DType::boolean))); }},
    {"aten::bitwise_xor.Tensor", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Xor(a, b)) : V(on.BitwiseXor(a, b)); }, promote(0, 1)},
    {"aten::__xor__.Tensor", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Xor(a, b)) : V(on.BitwiseXor(a, b)); }, promote(0, 1)},
    {"aten::bitwise_and.Scalar", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::bitwise_or.Scalar", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); }, promote(0, 1)},
    {"aten::bitwise_xor.Scalar", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Xor(a, b)) : V(on.BitwiseXor(a, b)); }, promote(0, 1)},
    {"aten::__and__.Scalar", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::__or__.Scalar", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); }, promote(0, 1)},
    {"aten::bitwise_left_shift.Tensor", [](Lower& on, V a, V b) { return shift(on, a, b, true); }, promote(0, 1)},
    {"aten::bitwise_right_shift.Tensor", [](Lower& on, V a, V b) { return shift(on, a, b, false); }, promote(0, 1)},
    {"aten::__lshift__.Scalar", [](Lower& on, V a, V b) { return shift(on, a, b, true); }, promote(0, 1)},
    {"aten::__rshift__.Scalar", [](Lower& on, V a, V b) { return shift(on, a, b, false); }, promote(0, 1)},
    {"aten::prelu", [](Lower& on, V x, V w) {
       if (on.rank(w) == 1 && on.rank(x) > 2 && !on.dim(w, 0).is(1)) {
         Ints tail;
         for (int64_t i = 1; i + 1 < on.rank(x); ++i) tail.push_back(i);
         w = on.unsqueeze(w, tail);
       }
       return V(on.PRelu(x, w));
     }},
    {"aten::celu", [](Lower& on, V x, double alpha) { return V(on.Celu(x, {.alpha = static_cast<float>(alpha)})); }},
    {"aten::selu", [](Lower& on, V x) { return V(on.Selu(x)); }},
    {"aten::glu", [](Lower& on, V x, int64_t dim) {
       const int64_t axis = on.axis(x, dim);
       const Dim half = floor_div(on.dim(x, axis), Dim(2));
       return V(on.Mul(on.slice(x, axis, Dim(0), half), on.Sigmoid(on.slice(x, axis, half, on.dim(x, axis)))));
     }},
    {"aten::log_sigmoid", [](Lower& on, V x) { return V(on.Neg(on.Softplus(on.Neg(x)))); }},
    {"aten::hardshrink", [](Lower& on, V x, Num l) { return V(on.Where(on.LessOrEqual(on.Abs(x), on.scalar_like(l, x)), on.number_like(0, x), x)); }},
    {"aten::softshrink", [](Lower& on, V x, double l) { return V(on.Shrink(x, {.bias = static_cast<float>(l), .lambd = static_cast<float>(l)})); }},
    {"aten::threshold", [](Lower& on, V x, Num t, Num v) { return V(on.Where(on.LessOrEqual(x, on.scalar_like(t, x)), on.scalar_like(v, x), x)); }},
    {"aten::rrelu", [](Lower& on, V x, double lower, double upper, bool training) {
       if (training) unsupported("rrelu in training mode", "export the model in eval mode");
       return V(on.LeakyRelu(x, {.alpha = static_cast<float>((lower + upper) / 2)}));
     }},
};

}  // namespace

std::span<const Row> function_rows() { return table; }

}  // namespace cameo::lowering
