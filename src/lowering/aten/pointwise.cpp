// Arithmetic, comparisons and activations, element by element.
#include <cmath>
#include <numbers>

#include "lowering/elementary.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V scaled(Lower& on, V b, const Num& alpha) { return alpha.is(1) ? b : V(on.Mul(b, on.scalar_like(alpha, b))); }
V add(Lower& on, V a, V b, Num alpha) {
  if (on.is_bool(a)) return on.Or(a, b);
  return on.Add(a, scaled(on, b, alpha));
}
V multiply(Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.Mul(a, b)); }
V sub(Lower& on, V a, V b, Num alpha) { return on.Sub(a, scaled(on, b, alpha)); }

V floor_divide(Lower& on, V a, V b) {
  if (on.is_float(a)) return on.Floor(on.Div(a, b));
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
  if (!on.is_float(a)) return on.Div(a, b);
  const V q = on.Div(a, b);
  return on.Mul(on.Sign(q), on.Floor(on.Abs(q)));
}

V remainder(Lower& on, V a, V b) {
  if (!on.is_float(a)) return on.Mod(a, b);
  return on.Sub(a, on.Mul(on.Floor(on.Div(a, b)), b));
}

V clamp(Lower& on, V x, const Opt<V>& lo, const Opt<V>& hi) {
  if (lo) x = on.Max(std::vector<ValueId>{x, *lo});
  if (hi) x = on.Min(std::vector<ValueId>{x, *hi});  // last, so hi wins when lo > hi
  return x;
}

V clip(Lower& on, V x, const Opt<Num>& lo, const Opt<Num>& hi) {
  return on.Clip(x, lo ? on.scalar_like(*lo, x).id : ValueId(), hi ? on.scalar_like(*hi, x).id : ValueId());
}

V as_bool(Lower& on, V x) { return on.to(x, DType::boolean); }

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
    {"aten::pow.Tensor_Tensor", [](Lower& on, V a, V b) { return V(on.Pow(a, b)); }, promote(0, 1)},
    {"aten::pow.Tensor_Scalar", [](Lower& on, V a, V b) { return V(on.Pow(a, b)); }, promote(0, 1)},
    {"aten::pow.Scalar", [](Lower& on, V a, V b) { return V(on.Pow(a, b)); }, promote(0, 1)},
    {"aten::maximum", [](Lower& on, V a, V b) { return V(on.Max(std::vector<ValueId>{a, b})); }, promote(0, 1)},
    {"aten::minimum", [](Lower& on, V a, V b) { return V(on.Min(std::vector<ValueId>{a, b})); }, promote(0, 1)},
    {"aten::clamp", [](Lower& on, V x, Opt<Num> lo, Opt<Num> hi) { return clip(on, x, lo, hi); }},
    {"aten::clamp.Tensor", [](Lower& on, V x, Opt<V> lo, Opt<V> hi) { return clamp(on, x, lo, hi); }, promote(0, 1, 2)},
    {"aten::clamp_min", [](Lower& on, V x, Num lo) { return clip(on, x, lo, {}); }},
    {"aten::clamp_max", [](Lower& on, V x, Num hi) { return clip(on, x, {}, hi); }},

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
    {"aten::logical_not", [](Lower& on, V x) { return V(on.Not(as_bool(on, x))); }},
    {"aten::logical_and", [](Lower& on, V a, V b) { return V(on.And(as_bool(on, a), as_bool(on, b))); }},
    {"aten::logical_or", [](Lower& on, V a, V b) { return V(on.Or(as_bool(on, a), as_bool(on, b))); }},
    {"aten::bitwise_not", [](Lower& on, V x) { return on.is_bool(x) ? V(on.Not(x)) : V(on.BitwiseNot(x)); }},
    {"aten::bitwise_and.Tensor", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::bitwise_or.Tensor", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); }, promote(0, 1)},
    {"aten::__and__.Tensor", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.And(a, b)) : V(on.BitwiseAnd(a, b)); }, promote(0, 1)},
    {"aten::__or__.Tensor", [](Lower& on, V a, V b) { return on.is_bool(a) ? V(on.Or(a, b)) : V(on.BitwiseOr(a, b)); }, promote(0, 1)},
    {"aten::where.self", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); }, promote(1, 2)},
    {"aten::where.ScalarOther", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); }, promote(1, 2)},
    {"aten::where.ScalarSelf", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); }, promote(1, 2)},
    {"aten::where.Scalar", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); }, promote(1, 2)},
    {"aten::masked_fill.Scalar", [](Lower& on, V x, V mask, Num v) { return V(on.Where(mask, on.scalar_like(v, x), x)); }},
    {"aten::masked_fill.Tensor", [](Lower& on, V x, V mask, V v) { return V(on.Where(mask, on.to(v, on.dtype(x)), x)); }},

    {"aten::abs", [](Lower& on, V x) { return V(on.Abs(x)); }},
    {"aten::neg", [](Lower& on, V x) { return V(on.Neg(x)); }},
    {"aten::exp", [](Lower& on, V x) { return V(on.Exp(x)); }, promote_float(0)},
    {"aten::log", [](Lower& on, V x) { return V(on.Log(x)); }, promote_float(0)},
    {"aten::sqrt", [](Lower& on, V x) { return V(on.Sqrt(x)); }, promote_float(0)},
    {"aten::rsqrt", [](Lower& on, V x) { return V(on.Reciprocal(on.Sqrt(x))); }, promote_float(0)},
    {"aten::reciprocal", [](Lower& on, V x) { return V(on.Reciprocal(x)); }, promote_float(0)},
    {"aten::sin", [](Lower& on, V x) { return V(on.Sin(x)); }, promote_float(0)},
    {"aten::cos", [](Lower& on, V x) { return V(on.Cos(x)); }, promote_float(0)},
    {"aten::tanh", [](Lower& on, V x) { return V(on.Tanh(x)); }, promote_float(0)},
    {"aten::erf", fn<erf>, promote_float(0)},
    {"aten::floor", [](Lower& on, V x) { return on.is_float(x) ? V(on.Floor(x)) : x; }},
    {"aten::ceil", [](Lower& on, V x) { return on.is_float(x) ? V(on.Ceil(x)) : x; }},
    {"aten::round", [](Lower& on, V x) { return on.is_float(x) ? V(on.Round(x)) : x; }},
    {"aten::square", [](Lower& on, V x) { return V(on.Mul(x, x)); }},

    {"aten::relu", [](Lower& on, V x) { return V(on.Relu(x)); }},
    {"aten::relu6", [](Lower& on, V x) { return clip(on, x, Num(0.0), Num(6.0)); }},
    {"aten::hardtanh", [](Lower& on, V x, Num lo, Num hi) { return clip(on, x, lo, hi); }},
    {"aten::sigmoid", [](Lower& on, V x) { return V(on.Sigmoid(x)); }, promote_float(0)},
    {"aten::silu", [](Lower& on, V x) { return V(on.Swish(x)); }},
    {"aten::hardswish", [](Lower& on, V x) { return V(on.HardSwish(x)); }},
    {"aten::hardsigmoid", [](Lower& on, V x) { return V(on.HardSigmoid(x, {.alpha = 1.0f / 6.0f, .beta = 0.5f})); }},
    {"aten::mish", [](Lower& on, V x) { return V(on.Mish(x)); }},
    {"aten::elu", [](Lower& on, V x, double alpha, double scale, double input_scale) {
       if (input_scale != 1) unsupported("elu with an input scale");
       const V y = on.Elu(x, {.alpha = static_cast<float>(alpha)});
       return scale == 1 ? y : V(on.Mul(y, on.number(scale, on.dtype(x))));
     }},
    {"aten::leaky_relu", [](Lower& on, V x, double slope) { return V(on.LeakyRelu(x, {.alpha = static_cast<float>(slope)})); }},
    {"aten::gelu", [](Lower& on, V x, Str approximate) { return V(on.Gelu(x, {.approximate = approximate})); }},
    {"aten::softplus", [](Lower& on, V x, Num beta, Num threshold) {
       const V scaled_x = beta.is(1) ? x : V(on.Mul(x, on.scalar_like(beta, x)));
       const V y = on.Softplus(scaled_x);
       const V unscaled = beta.is(1) ? y : V(on.Div(y, on.scalar_like(beta, x)));
       return V(on.Where(on.Greater(scaled_x, on.scalar_like(threshold, x)), x, unscaled));
     }},
};

}  // namespace

std::span<const Row> pointwise_rows() { return table; }

}  // namespace cameo::lowering
