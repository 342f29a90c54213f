#include "lowering/elementary.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "lowering/arithmetic.h"
#include "lowering/forms.h"

namespace cameo::lowering {

namespace {

using std::numbers::ln2;
using std::numbers::pi;

bool single(Lower& on, V x) { return on.dtype(x) != DType::f64; }
V is_over(Lower& on, V x, double limit) { return on.Greater(on.Abs(x), on.number_like(limit, x)); }

V doubles(Lower& on, const std::vector<double>& v) {
  return on.constant(Tensor::of<double>(DType::f64, {static_cast<int64_t>(v.size())}, v));
}

// Below 1.5: all terms of x * sum(2^n x^2n / (2n + 1)!!) have one sign.
V erf_series(Lower& on, V x) {
  std::vector<double> exponents, factors;
  for (double n = 0, f = 1; n < 36; ++n, f *= 2 / (2 * n + 1)) exponents.push_back(n), factors.push_back(f);
  const V square = on.Mul(x, x), wide = on.unsqueeze(square, {on.rank(x)});
  const V sum =
      reduce(on, Reduce::sum, on.Mul(on.Pow(wide, doubles(on, exponents)), doubles(on, factors)), {on.rank(x)}, false);
  return on.Mul(on.Mul(times(on, x, 2 / std::sqrt(pi)), on.Exp(on.Neg(square))), sum);
}
// From 1.5 on: the trapezoidal rule over exp(-t^2) / (t^2 + x^2), with its exact correction.
V erfc_tail(Lower& on, V x) {
  constexpr double step = 0.5;
  std::vector<double> squares, weights;
  for (int n = 1; n <= 13; ++n)
    squares.push_back(n * n * step * step), weights.push_back(std::exp(-n * n * step * step));
  const V square = on.Mul(x, x), wide = on.unsqueeze(square, {on.rank(x)});
  const V sum =
      reduce(on, Reduce::sum, on.Div(doubles(on, weights), on.Add(wide, doubles(on, squares))), {on.rank(x)}, false);
  const V all = on.Add(sum, on.Div(on.number_like(0.5, x), square));
  const V y = on.Mul(on.Mul(times(on, x, 2 * step / pi), on.Exp(on.Neg(square))), all);
  const V correction = on.Div(on.number_like(2, x), plus(on, on.Exp(times(on, x, 2 * pi / step)), -1));
  return on.Where(is_over(on, x, 6), y, on.Sub(y, correction));
}
struct ErrorFunction {
  V far, near, tail;  // whether |x| > 1.5; erf below, erfc(|x|) above
};
ErrorFunction error_function(Lower& on, V x) {
  const V far = is_over(on, x, 1.5), size = on.Abs(x);
  return {
      far, erf_series(on, on.Where(far, on.number_like(0, x), x)),
      erfc_tail(on, on.Where(far, on.Min(std::vector<ValueId>{size, on.number_like(30, x)}), on.number_like(2, x)))};
}

// A power of the base gives its exponent, whatever the last bit of the logarithm is.
V log_to(Lower& on, V x, double base) {
  const V y = times(on, on.Log(x), 1 / std::log(base));
  if (single(on, x)) return y;
  const V whole = on.Round(y);
  return on.Where(on.Equal(on.Pow(on.number_like(base, x), whole), x), whole, y);
}

}  // namespace

V is_inf(Lower& on, V x, bool positive, bool negative) {
  if (!on.is_float(x)) return on.Not(on.Equal(x, x));
  if (on.dtype(x) == DType::f16 || on.dtype(x) == DType::bf16) x = on.to(x, DType::f32);
  return on.IsInf(x, {.detect_negative = negative, .detect_positive = positive});
}
V truncated(Lower& on, V x) { return on.is_float(x) ? V(on.Mul(on.Sign(x), on.Floor(on.Abs(x)))) : x; }
// A zero's sign shows only in its reciprocal.
V copysign(Lower& on, V a, V b) {
  const V size = on.Abs(a), zero = on.number_like(0, b);
  V negative = on.Less(b, zero);
  if (on.is_float(b)) negative = on.Or(negative, on.And(on.Equal(b, zero), on.Less(on.Reciprocal(b), zero)));
  return on.Where(negative, on.Neg(size), size);
}

V tan(Lower& on, V x) { return single(on, x) ? V(on.Tan(x)) : V(on.Div(on.Sin(x), on.Cos(x))); }

// A double's angle to single precision, then turned by what is left: the tangent of a difference.
V atan(Lower& on, V x) {
  if (single(on, x)) return on.Atan(x);
  const V steep = is_over(on, x, 1), slope = on.Where(steep, on.Reciprocal(x), x);
  const V y = on.to(on.Atan(on.to(slope, DType::f32)), DType::f64), s = on.Sin(y), c = on.Cos(y);
  const V angle = on.Add(y, on.Div(on.Sub(on.Mul(slope, c), s), on.Add(c, on.Mul(slope, s))));
  return on.Where(steep, on.Sub(times(on, on.Sign(x), pi / 2), angle), angle);
}
V asin(Lower& on, V x) {
  if (single(on, x)) return on.Asin(x);
  const V one = on.number_like(1, x);
  return atan(on, on.Div(x, on.Sqrt(on.Mul(on.Sub(one, x), on.Add(one, x)))));
}
V acos(Lower& on, V x) {
  if (single(on, x)) return on.Acos(x);
  const V one = on.number_like(1, x);
  return times(on, atan(on, on.Sqrt(on.Div(on.Sub(one, x), on.Add(one, x)))), 2);
}
V atan2(Lower& on, V y, V x) {
  const V half = on.number_like(pi / 2, x), zero = on.number_like(0, x), turn = on.number_like(pi, x);
  const V x_zero = on.Equal(x, zero), y_negative = on.Less(y, zero);
  const V angle = atan(on, on.Div(y, on.Where(x_zero, on.number_like(1, x), x)));
  const V turned = on.Where(on.Less(x, zero), on.Where(y_negative, on.Sub(angle, turn), on.Add(angle, turn)), angle);
  const V upright = on.Where(y_negative, on.Neg(half), on.Where(on.Equal(y, zero), zero, half));
  return on.Where(x_zero, upright, turned);
}

// exp(x) - 1 in ONNX's operators: exact enough away from 0, corrected near it.
V expm1(Lower& on, V x) {
  const V less = on.Sub(on.Exp(x), on.number_like(1, x));
  if (!single(on, x)) {
    // Kahan: u = exp(x); (u - 1) * x / log(u), and x itself where u rounds to 1.
    const V away = is_over(on, x, 0.5), small = on.Where(away, on.number_like(0, x), x), u = on.Exp(small),
            one = on.number_like(1, x);
    const V flat = on.Equal(u, one), ratio = on.Div(on.Mul(on.Sub(u, one), small), on.Where(flat, one, on.Log(u)));
    return on.Where(away, less, on.Where(flat, x, ratio));
  }
  // x + x^2/2 + x^3/6 + x^4/24
  const V series = on.Mul(
      x, on.Add(on.number_like(1, x),
                on.Mul(x, on.Add(on.number_like(0.5, x), on.Mul(x, on.Add(on.number_like(1.0 / 6, x),
                                                                          on.Mul(x, on.number_like(1.0 / 24, x))))))));
  return on.Where(on.Less(on.Abs(x), on.number_like(1e-2, x)), series, less);
}
V log1p(Lower& on, V x) {
  // Kahan: u = 1 + x; log(u) * x / (u - 1), and x itself where u rounds to 1.
  const V one = on.number_like(1, x), u = on.Add(x, one), d = on.Sub(u, one);
  const V flat = on.Equal(d, on.number_like(0, x));
  const V ratio = on.Mul(on.Log(u), on.Div(x, on.Where(flat, one, d)));
  const V infinite = is_inf(on, x, true, false);
  return on.Where(flat, x, on.Where(infinite, x, ratio));
}
V log2(Lower& on, V x) { return log_to(on, x, 2); }
V log10(Lower& on, V x) { return log_to(on, x, 10); }

V sinh(Lower& on, V x) {
  if (single(on, x)) return on.Sinh(x);
  const V size = on.Abs(x), far = is_over(on, x, 20), e = expm1(on, on.Where(far, on.number_like(0, x), size));
  const V near = times(on, on.Add(e, on.Div(e, plus(on, e, 1))), 0.5);
  return on.Mul(on.Sign(x), on.Where(far, on.Exp(plus(on, size, -ln2)), near));
}
V cosh(Lower& on, V x) {
  if (single(on, x)) return on.Cosh(x);
  const V size = on.Abs(x);
  return on.Add(on.Exp(plus(on, size, -ln2)), on.Exp(plus(on, on.Neg(size), -ln2)));
}
V asinh(Lower& on, V x) {
  if (single(on, x)) return on.Asinh(x);
  const V size = on.Abs(x), far = is_over(on, x, 1e8), a = on.Where(far, on.number_like(0, x), size),
          square = on.Mul(a, a);
  const V near = log1p(on, on.Add(a, on.Div(square, plus(on, on.Sqrt(plus(on, square, 1)), 1))));
  return on.Mul(on.Sign(x), on.Where(far, plus(on, on.Log(size), ln2), near));
}
V acosh(Lower& on, V x) {
  if (single(on, x)) return on.Acosh(x);
  const V far = on.Greater(x, on.number_like(1e8, x)), t = plus(on, on.Where(far, on.number_like(1, x), x), -1);
  return on.Where(far, plus(on, on.Log(x), ln2), log1p(on, on.Add(t, on.Mul(on.Sqrt(t), on.Sqrt(plus(on, t, 2))))));
}
V atanh(Lower& on, V x) {
  if (single(on, x)) return on.Atanh(x);
  const V size = on.Abs(x);
  return on.Mul(on.Sign(x), times(on, log1p(on, on.Div(times(on, size, 2), on.Sub(on.number_like(1, x), size))), 0.5));
}

V erf(Lower& on, V x) {
  if (single(on, x)) return on.Erf(x);
  const ErrorFunction e = error_function(on, x);
  return on.Where(e.far, on.Mul(on.Sign(x), on.Sub(on.number_like(1, x), e.tail)), e.near);
}
V erfc(Lower& on, V x) {
  const V one = on.number_like(1, x);
  if (single(on, x)) return on.Sub(one, on.Erf(x));
  const ErrorFunction e = error_function(on, x);
  return on.Where(e.far, on.Where(on.Less(x, on.number_like(0, x)), on.Sub(on.number_like(2, x), e.tail), e.tail),
                  on.Sub(one, e.near));
}

}  // namespace cameo::lowering
