// Functions that are computed by going on until done: common divisors, orthogonal polynomials whose degree is data,
// incomplete gamma functions.
#include <cmath>
#include <limits>

#include "lowering/forms.h"
#include "lowering/loop.h"
#include "lowering/row.h"
#include "lowering/special.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

struct Broadcast {
  V a, b;
};
Broadcast broadcast_both(Lower& on, V a, V b) {
  const Dims shape = broadcast_shapes(on.shape(a), on.shape(b));
  return {on.expand(a, shape), on.expand(b, shape)};
}
V any_nonzero(Lower& on, V x) {
  return on.to(reduce(on, Reduce::max, on.to(on.to(flat(on, x), DType::boolean), DType::i32), {0}, false),
               DType::boolean);
}

// Euclid, for all elements until the last one is done.
V greatest_divisor(Lower& on, V a, V b) {
  const Broadcast both = broadcast_both(on, on.Abs(a), on.Abs(b));
  const V x = both.a, y = both.b;
  if (element_count(on.shape(x)).is(0)) return x;
  LoopWriter w(on, on.On::int_scalar(128), {x, y});
  const Vs s = w.state();
  const V done = on.Equal(s[1], on.number_like(0, x));
  const V rest = on.Where(done, s[1], on.Mod(s[0], on.Where(done, on.number_like(1, x), s[1])));
  const V next = on.Where(done, s[0], s[1]);
  return w.finish({next, rest}, any_nonzero(on, rest))[0];
}
V least_multiple(Lower& on, V a, V b) {
  const V d = greatest_divisor(on, a, b);
  const V none = on.Equal(d, on.number_like(0, d));
  return on.Abs(on.Where(none, d, on.Mul(on.Div(a, on.Where(none, on.number_like(1, d), d)), b)));
}

enum class Family : uint8_t {
  chebyshev_t,
  chebyshev_u,
  chebyshev_v,
  chebyshev_w,
  hermite_h,
  hermite_he,
  laguerre,
  legendre
};

// p[k+1] from p[k] and p[k-1]; every element keeps the one of its own degree.
V polynomial_of(Lower& on, V x, V n, Family family, bool shifted) {
  const auto num = [&](double v) { return on.number_like(v, x); };
  const Broadcast both = broadcast_both(on, x, on.Floor(on.to(n, on.dtype(x))));
  const V wide = both.a, degrees = both.b;
  const V z = shifted ? V(on.Sub(on.Mul(num(2), wide), num(1))) : wide, twice = on.Mul(num(2), z),
          one = on.full(on.shape(z), Num(1.0), on.dtype(z));
  V first = z;
  if (family == Family::chebyshev_u || family == Family::hermite_h) first = twice;
  if (family == Family::chebyshev_v) first = on.Sub(twice, num(1));
  if (family == Family::chebyshev_w) first = on.Add(twice, num(1));
  if (family == Family::laguerre) first = on.Sub(num(1), z);
  const V zero = on.number_like(0, z);
  const V start = on.Where(on.Less(degrees, zero), zero, on.Where(on.Equal(degrees, zero), one, first));
  if (element_count(on.shape(z)).is(0)) return start;
  const V turns = on.to(
      on.Max(std::vector<ValueId>{on.Sub(reduce(on, Reduce::max, flat(on, degrees), {0}, false), num(1)), num(0)}),
      DType::i64);
  const Vs out = loop(on, turns, {one, first, start}, [&](V turn, const Vs& s) -> Vs {
    const V k = on.Add(on.to(turn, on.dtype(z)), num(1)), up = on.Add(k, num(1));  // p[k] is s[1]
    V next;
    switch (family) {
      case Family::hermite_h: next = on.Sub(on.Mul(twice, s[1]), on.Mul(on.Mul(num(2), k), s[0])); break;
      case Family::hermite_he: next = on.Sub(on.Mul(z, s[1]), on.Mul(k, s[0])); break;
      case Family::laguerre:
        next = on.Div(on.Sub(on.Mul(on.Sub(on.Add(on.Mul(num(2), k), num(1)), z), s[1]), on.Mul(k, s[0])), up);
        break;
      case Family::legendre:
        next = on.Div(on.Sub(on.Mul(on.Mul(on.Add(on.Mul(num(2), k), num(1)), z), s[1]), on.Mul(k, s[0])), up);
        break;
      default: next = on.Sub(on.Mul(twice, s[1]), s[0]);
    }
    return {s[1], next, on.Where(on.Equal(degrees, up), next, s[2])};
  });
  return out[2];
}
template <Family F, bool Shifted = false>
V polynomial(Lower& on, V x, V n) {
  return polynomial_of(on, x, n, F, Shifted);
}

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

constexpr Row table[] = {
    {"aten::gcd", fn<greatest_divisor>, promote(0, 1)},
    {"aten::lcm", fn<least_multiple>, promote(0, 1)},
    {"aten::igamma", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, false); }, promote_float(0, 1)},
    {"aten::igammac", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, true); }, promote_float(0, 1)},
    {"aten::special_gammainc", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, false); },
     promote_float(0, 1)},
    {"aten::special_gammaincc", [](Lower& on, V a, V x) { return incomplete_gamma(on, a, x, true); },
     promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_t", fn<polynomial<Family::chebyshev_t>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_t.n_scalar", fn<polynomial<Family::chebyshev_t>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_t.x_scalar", fn<polynomial<Family::chebyshev_t>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_u", fn<polynomial<Family::chebyshev_u>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_u.n_scalar", fn<polynomial<Family::chebyshev_u>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_u.x_scalar", fn<polynomial<Family::chebyshev_u>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_v", fn<polynomial<Family::chebyshev_v>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_v.n_scalar", fn<polynomial<Family::chebyshev_v>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_v.x_scalar", fn<polynomial<Family::chebyshev_v>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_w", fn<polynomial<Family::chebyshev_w>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_w.n_scalar", fn<polynomial<Family::chebyshev_w>>, promote_float(0, 1)},
    {"aten::special_chebyshev_polynomial_w.x_scalar", fn<polynomial<Family::chebyshev_w>>, promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_t", fn<polynomial<Family::chebyshev_t, true>>, promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_t.n_scalar", fn<polynomial<Family::chebyshev_t, true>>,
     promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_t.x_scalar", fn<polynomial<Family::chebyshev_t, true>>,
     promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_u", fn<polynomial<Family::chebyshev_u, true>>, promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_u.n_scalar", fn<polynomial<Family::chebyshev_u, true>>,
     promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_u.x_scalar", fn<polynomial<Family::chebyshev_u, true>>,
     promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_v", fn<polynomial<Family::chebyshev_v, true>>, promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_v.n_scalar", fn<polynomial<Family::chebyshev_v, true>>,
     promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_v.x_scalar", fn<polynomial<Family::chebyshev_v, true>>,
     promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_w", fn<polynomial<Family::chebyshev_w, true>>, promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_w.n_scalar", fn<polynomial<Family::chebyshev_w, true>>,
     promote_float(0, 1)},
    {"aten::special_shifted_chebyshev_polynomial_w.x_scalar", fn<polynomial<Family::chebyshev_w, true>>,
     promote_float(0, 1)},
    {"aten::special_hermite_polynomial_h", fn<polynomial<Family::hermite_h>>, promote_float(0, 1)},
    {"aten::special_hermite_polynomial_h.n_scalar", fn<polynomial<Family::hermite_h>>, promote_float(0, 1)},
    {"aten::special_hermite_polynomial_h.x_scalar", fn<polynomial<Family::hermite_h>>, promote_float(0, 1)},
    {"aten::special_hermite_polynomial_he", fn<polynomial<Family::hermite_he>>, promote_float(0, 1)},
    {"aten::special_hermite_polynomial_he.n_scalar", fn<polynomial<Family::hermite_he>>, promote_float(0, 1)},
    {"aten::special_hermite_polynomial_he.x_scalar", fn<polynomial<Family::hermite_he>>, promote_float(0, 1)},
    {"aten::special_laguerre_polynomial_l", fn<polynomial<Family::laguerre>>, promote_float(0, 1)},
    {"aten::special_laguerre_polynomial_l.n_scalar", fn<polynomial<Family::laguerre>>, promote_float(0, 1)},
    {"aten::special_laguerre_polynomial_l.x_scalar", fn<polynomial<Family::laguerre>>, promote_float(0, 1)},
    {"aten::special_legendre_polynomial_p", fn<polynomial<Family::legendre>>, promote_float(0, 1)},
    {"aten::special_legendre_polynomial_p.n_scalar", fn<polynomial<Family::legendre>>, promote_float(0, 1)},
    {"aten::special_legendre_polynomial_p.x_scalar", fn<polynomial<Family::legendre>>, promote_float(0, 1)},
};

}  // namespace

std::span<const Row> recurrence_rows() { return table; }

}  // namespace cameo::lowering
