// torch.special: orthogonal polynomials whose degree is data.
#include "lowering/aten/special/series.h"
#include "lowering/axes.h"
#include "lowering/forms.h"
#include "lowering/loop.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

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

constexpr Row table[] = {
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

std::span<const Row> special_polynomials_rows() { return table; }

}  // namespace cameo::lowering
