// Special functions that ONNX has no operator for, as polynomials good to single precision (Abramowitz and Stegun;
// Hart's rational forms; Lanczos; Giles for the inverse error function).
#include <cmath>
#include <limits>
#include <numbers>

#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/special.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

constexpr double pi = std::numbers::pi, infinity = std::numeric_limits<double>::infinity();
using Coefficients = std::initializer_list<double>;  // constant term first

V times(Lower& on, V x, double v) { return on.Mul(x, on.number_like(v, x)); }
V plus(Lower& on, V x, double v) { return on.Add(x, on.number_like(v, x)); }
V squared(Lower& on, V x) { return on.Mul(x, x); }

V polynomial(Lower& on, V x, Coefficients c) {
  V y = on.number_like(*(c.end() - 1), x);
  for (const double* p = c.end() - 1; p != c.begin();) y = plus(on, on.Mul(y, x), *--p);
  return y;
}
// Where the other branch is chosen, x is kept away from what that form cannot take.
V at_least(Lower& on, V x, double low) { return on.Max(std::vector<ValueId>{x, on.number_like(low, x)}); }
V at_most(Lower& on, V x, double high) { return on.Min(std::vector<ValueId>{x, on.number_like(high, x)}); }
V fraction(Lower& on, V x) { return on.Sub(x, on.Round(x)); }  // in [-1/2, 1/2]: sin and tan of pi x lose nothing

}  // namespace

// Lanczos above 1/2, the reflection below.
V log_gamma(Lower& on, V x) {
  static constexpr double c[] = {676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                                 -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                                 9.9843695780195716e-6, 1.5056327351493116e-7};
  const V below = on.Less(x, on.number_like(0.5, x));
  const V z = on.Sub(on.Where(below, on.Sub(on.number_like(1, x), x), x), on.number_like(1, x));
  V sum = on.number_like(0.99999999999980993, x);
  for (int i = 0; i < 8; ++i) sum = on.Add(sum, on.Div(on.number_like(c[i], x), plus(on, z, i + 1)));
  const V t = plus(on, z, 7.5);
  const V y = on.Add(on.Sub(on.Mul(plus(on, z, 0.5), on.Log(t)), t), plus(on, on.Log(sum), 0.5 * std::log(2 * pi)));
  const V reflected =
      on.Sub(on.Sub(on.number_like(std::log(pi), x), on.Log(on.Abs(on.Sin(times(on, fraction(on, x), pi))))), y);
  const V bounded = on.Where(below, reflected, y);
  return on.Where(on.IsInf(x), on.number_like(infinity, x), bounded);
}

namespace {

V digamma(Lower& on, V x) {
  const V below = on.Less(x, on.number_like(0, x));
  const V z = on.Where(below, on.Sub(on.number_like(1, x), x), x);
  V y = on.number_like(0, x);
  for (int i = 0; i < 8; ++i) y = on.Sub(y, on.Reciprocal(plus(on, z, i)));
  const V w = plus(on, z, 8), r = on.Reciprocal(squared(on, w));
  const V series = on.Mul(r, polynomial(on, r, {1.0 / 12, -1.0 / 120, 1.0 / 252}));
  y = on.Add(y, on.Sub(on.Sub(on.Log(w), on.Div(on.number_like(0.5, x), w)), series));
  const V whole = on.Equal(fraction(on, x), on.number_like(0, x));
  const V turned = on.Sub(y, on.Div(on.number_like(pi, x), on.Tan(times(on, fraction(on, x), pi))));
  return on.Where(below, on.Where(whole, on.number_like(std::numeric_limits<double>::quiet_NaN(), x), turned),
                  on.Where(on.Equal(x, on.number_like(0, x)), on.Neg(on.Div(on.number_like(1, x), x)), y));
}

// Hurwitz: 24 terms, then Euler and Maclaurin. Good for q > -20 and whole s, q > 0 otherwise.
V zeta(Lower& on, V s, V q) {
  constexpr int terms = 24;
  const V negative = on.Neg(s);
  V sum = on.Pow(q, negative);
  for (int k = 1; k < terms; ++k) sum = on.Add(sum, on.Pow(plus(on, q, k), negative));
  const V w = plus(on, q, terms), power = on.Pow(w, negative), one = on.number_like(1, q);
  sum = on.Add(sum, on.Add(on.Div(on.Mul(power, w), on.Sub(s, one)), times(on, power, 0.5)));
  sum = on.Add(sum, on.Div(on.Mul(times(on, s, 1.0 / 12), power), w));
  const V cubic = on.Mul(s, on.Mul(plus(on, s, 1), plus(on, s, 2)));
  sum = on.Sub(sum, on.Div(on.Mul(times(on, cubic, 1.0 / 720), power), on.Mul(w, squared(on, w))));
  const V nan = on.number_like(std::numeric_limits<double>::quiet_NaN(), q);
  const V pole = on.And(on.LessOrEqual(q, on.number_like(0, q)), on.Equal(q, on.Floor(q)));
  const V strange = on.And(on.Less(q, on.number_like(0, q)), on.Not(on.Equal(s, on.Floor(s))));
  sum = on.Where(strange, nan, on.Where(pole, on.number_like(infinity, q), sum));
  return on.Where(on.Equal(s, one), on.number_like(infinity, q), on.Where(on.Less(s, one), nan, sum));
}
V trigamma(Lower& on, V x) {
  const V below = on.Less(x, on.number_like(0.5, x));
  const V z = on.Where(below, on.Sub(on.number_like(1, x), x), x);
  const V y = zeta(on, on.number_like(2, x), z);
  const V sine = on.Sin(times(on, fraction(on, x), pi));
  return on.Where(below, on.Sub(on.Div(on.number_like(pi * pi, x), squared(on, sine)), y), y);
}
V polygamma(Lower& on, int64_t n, V x) {
  if (!on.is_float(x)) x = on.to(x, default_float);
  if (n == 0) return digamma(on, x);
  if (n == 1) return trigamma(on, x);
  return times(on, zeta(on, on.number_like(static_cast<double>(n + 1), x), x),
               (n % 2 ? 1 : -1) * std::tgamma(static_cast<double>(n + 1)));
}
V multivariate_log_gamma(Lower& on, V x, int64_t p) {
  if (!on.is_float(x)) x = on.to(x, default_float);
  V y = on.number_like(static_cast<double>(p * (p - 1)) / 4 * std::log(pi), x);
  for (int64_t i = 0; i < p; ++i) y = on.Add(y, log_gamma(on, plus(on, x, -0.5 * static_cast<double>(i))));
  return y;
}

V erf_inverse(Lower& on, V x) {
  const V one = on.number_like(1, x);
  const V w = on.Neg(on.Log(on.Mul(on.Sub(one, x), on.Add(one, x))));
  const V middle = polynomial(on, plus(on, w, -2.5),
                              {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06,
                               -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  const V tail = polynomial(on, plus(on, on.Sqrt(w), -3),
                            {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844,
                             0.00134934322, 0.000100950558, -0.000200214257});
  const V y = on.Mul(x, on.Where(on.Less(w, on.number_like(5, x)), middle, tail));
  return on.Where(on.Equal(on.Abs(x), one), on.Mul(x, on.number_like(infinity, x)), y);
}
// exp(x^2) erfc(x)
V erfcx(Lower& on, V x) {
  const V t = on.Reciprocal(plus(on, times(on, on.Abs(x), 0.5), 1));
  const V y = on.Mul(t, on.Exp(polynomial(on, t,
                                          {-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807,
                                           -1.13520398, 1.48851587, -0.82215223, 0.17087277})));
  return on.Where(on.Less(x, on.number_like(0, x)), on.Sub(times(on, on.Exp(squared(on, x)), 2), y), y);
}
V log_ndtr(Lower& on, V x) {
  const V t = times(on, x, 1 / std::numbers::sqrt2);
  const V tail = on.Sub(on.Log(times(on, erfcx(on, on.Neg(at_most(on, t, 0))), 0.5)), squared(on, t));
  return on.Where(on.Less(x, on.number_like(-1, x)), tail, on.Log(times(on, plus(on, on.Erf(t), 1), 0.5)));
}

// Modified Bessel functions of the first kind; scaled ones are times exp(-|x|).
V bessel_i(Lower& on, V x, Coefficients small, Coefficients large, bool odd, bool scaled) {
  const V size = on.Abs(x), t = squared(on, times(on, x, 1 / 3.75)), far = at_least(on, size, 3.75);
  V near = polynomial(on, t, small),
    away = on.Div(polynomial(on, on.Div(on.number_like(3.75, x), far), large), on.Sqrt(far));
  if (odd) near = on.Mul(near, size);
  if (scaled) near = on.Mul(near, on.Exp(on.Neg(size)));
  else away = on.Mul(away, on.Exp(size));
  const V y = on.Where(on.Less(size, on.number_like(3.75, x)), near, away);
  return odd ? V(on.Mul(on.Sign(x), y)) : y;
}
V bessel_i0(Lower& on, V x, bool scaled) {
  return bessel_i(
      on, x, {1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813},
      {0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281, -0.02057706, 0.02635537, -0.01647633, 0.00392377},
      false, scaled);
}
V bessel_i1(Lower& on, V x, bool scaled) {
  return bessel_i(
      on, x, {0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411},
      {0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555, 0.02282967, -0.02895312, 0.01787654, -0.00420059},
      true, scaled);
}
// Of the second kind; scaled ones are times exp(x).
V bessel_k(Lower& on, V x, V near, Coefficients large, bool scaled) {
  const V far = at_least(on, x, 2);
  V away = on.Div(polynomial(on, on.Div(on.number_like(2, x), far), large), on.Sqrt(far));
  if (scaled) near = on.Mul(near, on.Exp(at_most(on, x, 2)));
  else away = on.Mul(away, on.Exp(on.Neg(far)));
  const V zero = on.number_like(0, x);
  const V y = on.Where(on.LessOrEqual(x, on.number_like(2, x)), near, away);
  return on.Where(on.Equal(x, zero), on.number_like(infinity, x),
                  on.Where(on.Less(x, zero), on.number_like(std::numeric_limits<double>::quiet_NaN(), x), y));
}
V bessel_k0(Lower& on, V x, bool scaled) {
  const V s = at_most(on, x, 2), y = times(on, squared(on, s), 0.25);
  const V near =
      on.Sub(polynomial(on, y, {-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740}),
             on.Mul(on.Log(times(on, s, 0.5)), bessel_i0(on, s, false)));
  return bessel_k(on, x, near, {1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208},
                  scaled);
}
V bessel_k1(Lower& on, V x, bool scaled) {
  const V s = at_most(on, x, 2), y = times(on, squared(on, s), 0.25);
  const V rest =
      on.Div(polynomial(on, y, {1, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686}), s);
  const V near = on.Add(on.Mul(on.Log(times(on, s, 0.5)), bessel_i1(on, s, false)), rest);
  return bessel_k(on, x, near, {1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245},
                  scaled);
}

struct Wave {
  V near, cosine, sine;  // the rational form below 8; beyond, amplitude times cosine and sine of the phase
};
Wave wave(Lower& on, V size, double phase, Coefficients over, Coefficients under, Coefficients p, Coefficients q) {
  const V s = squared(on, at_most(on, size, 8)), far = at_least(on, size, 8), z = on.Div(on.number_like(8, size), far),
          y = squared(on, z);
  const V amplitude = on.Sqrt(on.Div(on.number_like(2 / pi, size), far)), angle = plus(on, far, -phase);
  const V even = on.Mul(amplitude, polynomial(on, y, p)), odd = on.Mul(amplitude, on.Mul(z, polynomial(on, y, q)));
  return {on.Div(polynomial(on, s, over), polynomial(on, s, under)),
          on.Sub(on.Mul(on.Cos(angle), even), on.Mul(on.Sin(angle), odd)),
          on.Add(on.Mul(on.Sin(angle), even), on.Mul(on.Cos(angle), odd))};
}
Wave wave0(Lower& on, V size, Coefficients over, Coefficients under) {
  return wave(on, size, pi / 4, over, under, {1, -0.1098628627e-2, 0.2734510407e-4, -0.2073370639e-5, 0.2093887211e-6},
              {-0.1562499995e-1, 0.1430488765e-3, -0.6911147651e-5, 0.7621095161e-6, -0.934935152e-7});
}
Wave wave1(Lower& on, V size, Coefficients over, Coefficients under) {
  return wave(on, size, 3 * pi / 4, over, under, {1, 0.183105e-2, -0.3516396496e-4, 0.2457520174e-5, -0.240337019e-6},
              {0.04687499995, -0.2002690873e-3, 0.8449199096e-5, -0.88228987e-6, 0.105787412e-6});
}
V bessel_j0(Lower& on, V x) {
  const V size = on.Abs(x);
  const Wave w = wave0(on, size, {57568490574.0, -13362590354.0, 651619640.7, -11214424.18, 77392.33017, -184.9052456},
                       {57568490411.0, 1029532985.0, 9494680.718, 59272.64853, 267.8532712, 1.0});
  return on.Where(on.Less(size, on.number_like(8, x)), w.near, w.cosine);
}
V bessel_j1(Lower& on, V x) {
  const V size = on.Abs(x);
  const Wave w = wave1(on, size, {72362614232.0, -7895059235.0, 242396853.1, -2972611.439, 15704.48260, -30.16036606},
                       {144725228442.0, 2300535178.0, 18583304.74, 99447.43394, 376.9991397, 1.0});
  return on.Mul(on.Sign(x), on.Where(on.Less(size, on.number_like(8, x)), on.Mul(w.near, size), w.cosine));
}
V second_kind(Lower& on, V x, V near, V far) {
  const V zero = on.number_like(0, x), y = on.Where(on.Less(x, on.number_like(8, x)), near, far);
  return on.Where(on.Equal(x, zero), on.number_like(-infinity, x),
                  on.Where(on.Less(x, zero), on.number_like(std::numeric_limits<double>::quiet_NaN(), x), y));
}
V bessel_y0(Lower& on, V x) {
  const Wave w = wave0(on, x, {-2957821389.0, 7062834065.0, -512359803.6, 10879881.29, -86327.92757, 228.4622733},
                       {40076544269.0, 745249964.8, 7189466.438, 47447.26470, 226.1030244, 1.0});
  return second_kind(on, x, on.Add(w.near, times(on, on.Mul(bessel_j0(on, x), on.Log(x)), 2 / pi)), w.sine);
}
V bessel_y1(Lower& on, V x) {
  const Wave w = wave1(
      on, x, {-0.4900604943e13, 0.1275274390e13, -0.5153438139e11, 0.7349264551e9, -0.4237922726e7, 0.8511937935e4},
      {0.2499580570e14, 0.4244419664e12, 0.3733650367e10, 0.2245904002e8, 0.1020426050e6, 0.3549632885e3, 1.0});
  const V rest = times(on, on.Sub(on.Mul(bessel_j1(on, x), on.Log(x)), on.Reciprocal(x)), 2 / pi);
  return second_kind(on, x, on.Add(on.Mul(w.near, x), rest), w.sine);
}

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

constexpr Row table[] = {
    {"aten::lgamma", fn<log_gamma>, promote_float(0)},
    {"aten::special_gammaln", fn<log_gamma>, promote_float(0)},
    {"aten::digamma", fn<digamma>, promote_float(0)},
    {"aten::special_digamma", fn<digamma>, promote_float(0)},
    {"aten::special_psi", fn<digamma>, promote_float(0)},
    {"aten::polygamma", fn<polygamma>},
    {"aten::special_polygamma", fn<polygamma>},
    {"aten::mvlgamma", fn<multivariate_log_gamma>},
    {"aten::special_multigammaln", fn<multivariate_log_gamma>},
    {"aten::special_zeta", fn<zeta>, promote_float(0, 1)},
    {"aten::special_zeta.other_scalar", fn<zeta>, promote_float(0, 1)},
    {"aten::special_zeta.self_scalar", fn<zeta>, promote_float(0, 1)},
    {"aten::erfinv", fn<erf_inverse>, promote_float(0)},
    {"aten::special_erfinv", fn<erf_inverse>, promote_float(0)},
    {"aten::special_erfcx", fn<erfcx>, promote_float(0)},
    {"aten::special_ndtri",
     [](Lower& on, V p) { return times(on, erf_inverse(on, plus(on, times(on, p, 2), -1)), std::numbers::sqrt2); },
     promote_float(0)},
    {"aten::special_log_ndtr", fn<log_ndtr>, promote_float(0)},
    {"aten::i0", [](Lower& on, V x) { return bessel_i0(on, x, false); }, promote_float(0)},
    {"aten::special_i0", [](Lower& on, V x) { return bessel_i0(on, x, false); }, promote_float(0)},
    {"aten::special_i0e", [](Lower& on, V x) { return bessel_i0(on, x, true); }, promote_float(0)},
    {"aten::special_i1", [](Lower& on, V x) { return bessel_i1(on, x, false); }, promote_float(0)},
    {"aten::special_i1e", [](Lower& on, V x) { return bessel_i1(on, x, true); }, promote_float(0)},
    {"aten::special_modified_bessel_i0", [](Lower& on, V x) { return bessel_i0(on, x, false); }, promote_float(0)},
    {"aten::special_modified_bessel_i1", [](Lower& on, V x) { return bessel_i1(on, x, false); }, promote_float(0)},
    {"aten::special_modified_bessel_k0", [](Lower& on, V x) { return bessel_k0(on, x, false); }, promote_float(0)},
    {"aten::special_modified_bessel_k1", [](Lower& on, V x) { return bessel_k1(on, x, false); }, promote_float(0)},
    {"aten::special_scaled_modified_bessel_k0", [](Lower& on, V x) { return bessel_k0(on, x, true); },
     promote_float(0)},
    {"aten::special_scaled_modified_bessel_k1", [](Lower& on, V x) { return bessel_k1(on, x, true); },
     promote_float(0)},
    {"aten::special_bessel_j0", fn<bessel_j0>, promote_float(0)},
    {"aten::special_bessel_j1", fn<bessel_j1>, promote_float(0)},
    {"aten::special_bessel_y0", fn<bessel_y0>, promote_float(0)},
    {"aten::special_bessel_y1", fn<bessel_y1>, promote_float(0)},
    {"aten::special_spherical_bessel_j0",
     [](Lower& on, V x) {
       const V small = on.Less(on.Abs(x), on.number_like(1e-2, x));
       const V near = plus(on, times(on, squared(on, x), -1.0 / 6), 1);
       return V(on.Where(
           small, near,
           on.Where(on.IsInf(x), on.number_like(0, x), on.Div(on.Sin(x), on.Where(small, on.number_like(1, x), x)))));
     },
     promote_float(0)},
    {"aten::angle",
     [](Lower& on, V x) {
       if (is_complex(on.dtype(x))) return phase_of(on, x);
       const V turned = on.Where(on.Less(x, on.number_like(0, x)), on.number_like(pi, x), on.number_like(0, x));
       return V(on.Where(on.IsNaN(x), x, turned));
     },
     promote_float(0)},
    {"aten::frexp.Tensor", fn<mantissa_exponent>, promote_float(0)},
};

}  // namespace

std::span<const Row> special_rows() { return table; }

}  // namespace cameo::lowering
