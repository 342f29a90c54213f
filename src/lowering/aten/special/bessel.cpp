// torch.special: Bessel functions.
#include <limits>

#include "lowering/arithmetic.h"
#include "lowering/aten/special/series.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

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

constexpr Row table[] = {
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
    {"aten::i0", [](Lower& on, V x) { return bessel_i0(on, x, false); }, promote_float(0)},
};

}  // namespace

std::span<const Row> special_bessel_rows() { return table; }

}  // namespace cameo::lowering
