// torch.special: gamma functions and their logarithms, derivatives and integrals; the zeta function.
#include "lowering/aten/special/gamma.h"

#include <cmath>
#include <limits>

#include "lowering/arithmetic.h"
#include "lowering/aten/special/series.h"
#include "lowering/axes.h"
#include "lowering/loop.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// The series below x = a + 1, Lentz's continued fraction above.
V incomplete_gamma(Lower& on, V a, V x, bool upper) {
  const auto num = [&](double v) { return on.number_like(v, x); };
  const Broadcast both = broadcast_both(on, a, x);
  const V sa = both.a, sx = both.b;
  const V low = on.Less(sx, on.Add(sa, num(1))), tiny = num(1e-30), one = on.full(on.shape(sx), Num(1.0), on.dtype(x));
  const V safe = on.Max(std::vector<ValueId>{sx, tiny});
  const V factor = on.Exp(on.Sub(on.Sub(on.Mul(sa, on.Log(safe)), safe), log_gamma(on, sa)));
  const V small = on.Where(low, safe, one), big = on.Where(low, on.Add(sa, num(2)), safe);
  const V term = on.Reciprocal(sa);
  const V b0 = on.Sub(on.Add(big, num(1)), sa), d0 = on.Reciprocal(b0),
          c0 = on.full(on.shape(sx), Num(1e30), on.dtype(x));
  const Vs s = loop(on, on.On::int_scalar(100), {term, term, c0, d0, d0}, [&](V turn, const Vs& before) -> Vs {
    const V i = on.Add(on.to(turn, on.dtype(x)), num(1));
    const V t = on.Div(on.Mul(before[0], small), on.Add(sa, i));
    const V an = on.Neg(on.Mul(i, on.Sub(i, sa))), b = on.Add(b0, on.Mul(num(2), i));
    const auto away = [&](V v) { return V(on.Where(on.Less(on.Abs(v), tiny), tiny, v)); };
    const V d = on.Reciprocal(away(on.Add(on.Mul(an, before[3]), b))), c = away(on.Add(b, on.Div(an, before[2])));
    return {t, on.Add(before[1], t), c, d, on.Mul(before[4], on.Mul(d, c))};
  });
  const V p = on.Where(low, on.Mul(factor, s[1]), on.Sub(num(1), on.Mul(factor, s[4])));
  const V q = on.Where(low, on.Sub(num(1), on.Mul(factor, s[1])), on.Mul(factor, s[4]));
  const V none = on.Equal(sx, num(0));
  const V y = upper ? on.Where(none, num(1), q) : on.Where(none, num(0), p);
  return on.Where(on.Or(on.Less(sx, num(0)), on.Less(sa, num(0))), num(std::numeric_limits<double>::quiet_NaN()), y);
}

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

constexpr Row table[] = {
    {"aten::special_gammaln", fn<log_gamma>, promote_float(0)},
    {"aten::special_digamma", fn<digamma>, promote_float(0)},
    {"aten::special_psi", fn<digamma>, promote_float(0)},
    {"aten::special_polygamma", fn<polygamma>},
    {"aten::special_multigammaln", fn<multivariate_log_gamma>},
    {"aten::special_zeta", fn<zeta>, promote_float(0, 1)},
    {"aten::special_zeta.other_scalar", fn<zeta>, promote_float(0, 1)},
    {"aten::special_zeta.self_scalar", fn<zeta>, promote_float(0, 1)},
    {"aten::special_gammainc", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, false); },
     promote_float(0, 1)},
    {"aten::special_gammaincc", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, true); },
     promote_float(0, 1)},
    {"aten::lgamma", fn<log_gamma>, promote_float(0)},
    {"aten::digamma", fn<digamma>, promote_float(0)},
    {"aten::polygamma", fn<polygamma>},
    {"aten::mvlgamma", fn<multivariate_log_gamma>},
    {"aten::igamma", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, false); }, promote_float(0, 1)},
    {"aten::igammac", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, true); }, promote_float(0, 1)},
};

}  // namespace

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

std::span<const Row> special_gamma_rows() { return table; }

}  // namespace cameo::lowering
