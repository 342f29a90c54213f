// Floor and truncating division, and modulo. Divisors are taken to be nonzero: dividing by zero is an error of the
// model, so that n*m/n = m holds wherever it has a value.
#include "ir/checked.h"
#include "ir/dim_build.h"
#include "ir/dim_range.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

[[noreturn]] void division_by_zero() { throw error("dim.division-by-zero", "a size is divided by zero"); }

Poly plus(Poly p, int64_t constant) {
  p.constant = checked_add(p.constant, constant);
  return p;
}

// An operation as an atom of its own.
Poly atom_poly(DimTable& table, AtomKind kind, DimOp op, Dim a, Dim b, Interval interval) {
  const Dim args[] = {a, b};
  if (!DimTable::atom_fits(args)) return Poly(table.stand_in(op, {a, b}, "", interval));
  return single(table.atom(kind, "", {a, b}, interval));
}

Poly floor_by_poly(DimTable& table, Poly a, Poly b);

// Moves whole multiples of m from `a` into the quotient that is returned. What stays has coefficients in [0, m) and a
// constant in (-m, 0], so that floor((x + k*m)/m) has one form only.
Poly take_multiples(Poly& a, int64_t m) {
  Poly quotient, rest;
  for (const Term& t : a.terms) {
    if (const int64_t q = checked_floor_div(t.coefficient, m)) quotient.terms.push_back({t.monomial, q});
    if (const int64_t r = floor_mod(t.coefficient, m)) rest.terms.push_back({t.monomial, r});
  }
  rest.constant = -floor_mod(checked_neg(a.constant), m);
  quotient.constant = checked_floor_div(checked_sub(a.constant, rest.constant), m);
  a = std::move(rest);
  return quotient;
}

// floor((floor(x/c) + rest)/m) = floor((x + c*rest)/(c*m)) for m > 0: strides nest into one division.
// The position of the one term of `a` that is such a floor, or nullopt.
std::optional<size_t> nested_floor(const Poly& a) {
  std::optional<size_t> found;
  for (size_t i = 0; i < a.terms.size(); ++i) {
    const DimAtom* const atom = atom_of(*a.terms[i].monomial);
    if (!atom || atom->kind != AtomKind::floor_div) continue;
    if (found) return std::nullopt;
    if (a.terms[i].coefficient != 1) return std::nullopt;
    found = i;
  }
  return found;
}

// Rewrites a / m when it nests; false when it does not, or when the result would be too big to be worth it.
bool unnest(DimTable& table, Poly& a, Poly& m) {
  const auto at = nested_floor(a);
  if (!at) return false;
  const DimAtom* const inner = atom_of(*a.terms[*at].monomial);
  const Poly c(inner->args[1]);
  Poly rest = a;
  rest.terms.erase(rest.terms.begin() + static_cast<ptrdiff_t>(*at));
  if (!c.is_literal() && !rest.is_literal()) return false;
  try {
    Poly numerator = add(Poly(inner->args[0]), multiply(table, c, rest));
    Poly denominator = multiply(table, c, m);
    if (!DimTable::fits(numerator) || !DimTable::fits(denominator)) return false;
    a = std::move(numerator);
    m = std::move(denominator);
    return true;
  } catch (const Error&) {
    return false;  // the literals would overflow: two divisions say the same
  }
}

// Precondition: m > 0.
Poly floor_by_literal(DimTable& table, Poly a, int64_t m) {
  Poly out;
  while (true) {
    out = add(out, take_multiples(a, m));
    if (a.is_literal()) return plus(std::move(out), checked_floor_div(a.constant, m));
    if (const int64_t g = common_divisor(content(a), m); g > 1) {
      a.constant = checked_floor_div(a.constant, g);
      const int64_t constant = std::exchange(a.constant, 0);
      a = plus(divide_exactly(std::move(a), g), constant);
      m /= g;
      continue;
    }
    Poly divisor(m);
    if (!unnest(table, a, divisor)) break;
    if (!divisor.is_literal()) return add(out, floor_by_poly(table, std::move(a), std::move(divisor)));
    m = divisor.constant;
  }
  // floor(-x/m) = -floor((x + m - 1)/m): of the two forms the one with the smaller first coefficient, so that
  // -(-n//4) and (n + 3)//4 are one expression.
  if (a.terms[0].coefficient > m / 2)
    return add(out, floor_by_literal(table, plus(scale(std::move(a), -1), m - 1), m), -1);
  const Interval quotient = floor_div(tight_interval(a), Interval::point(m));
  if (quotient.is_point()) return plus(std::move(out), quotient.lo);
  return add(out, atom_poly(table, AtomKind::floor_div, DimOp::floor_div, table.intern(std::move(a)), m, quotient));
}

// The factors that all terms of both polynomials share; none when there is a constant.
std::vector<Factor> shared_factors(const Poly& a, const Poly& b) {
  if (a.constant || b.constant) return {};
  std::vector<Factor> shared = b.terms[0].monomial->factors;
  for (const Poly* p : {&a, &b})
    for (const Term& t : p->terms) shared = common_factors(shared, t.monomial->factors);
  return shared;
}

// Cancels what a and b share, and makes the divisor's leading coefficient positive. Valid for every rounding.
void cancel(DimTable& table, Poly& a, Poly& b) {
  if (!b.is_literal()) {
    if (const auto shared = shared_factors(a, b); !shared.empty()) {
      a = divide_by_factors(table, a, shared);
      b = divide_by_factors(table, b, shared);
    }
  }
  int64_t g = common_divisor(common_divisor(content(a), a.constant), common_divisor(content(b), b.constant));
  if ((b.is_literal() ? b.constant : b.terms[0].coefficient) < 0) g = -g;
  a = divide_exactly(std::move(a), g);
  b = divide_exactly(std::move(b), g);
}

// When b is one term: moves the terms of `a` that b divides into the quotient that is returned.
Poly take_multiples(DimTable& table, Poly& a, const Term& b) {
  Poly quotient, rest(a.constant);
  for (const Term& t : a.terms) {
    auto factors = divide(t.monomial->factors, b.monomial->factors);
    const int64_t q = factors ? checked_floor_div(t.coefficient, b.coefficient) : 0;
    const int64_t r = checked_sub(t.coefficient, checked_mul(q, b.coefficient));
    if (r) rest.terms.push_back({t.monomial, r});
    if (!q) continue;
    Poly piece(q);
    if (!factors->empty()) {
      piece.constant = 0;
      piece.terms.push_back({table.monomial(std::move(*factors)), q});
    }
    quotient = add(quotient, piece);
  }
  a = std::move(rest);
  return quotient;
}

// The bounds of a divisor: one that cannot be negative is at least 1.
Interval divisor_interval(const Poly& b) {
  const Interval i = tight_interval(b);
  return i.lo >= 0 ? intersect(i, Interval::at_least(1)) : i;
}

Interval quotient_interval(const Poly& a, const Poly& b) {
  const Interval divisor = divisor_interval(b);
  Interval q = floor_div(tight_interval(a), divisor);
  if (divisor.lo < 0) return q;
  if (tight_interval(add(b, a, -1)).lo >= 1) q.hi = std::min<int64_t>(q.hi, 0);  // a < b
  if (tight_interval(add(a, b, -1)).lo >= 0) q.lo = std::max<int64_t>(q.lo, 1);  // a >= b
  if (tight_interval(add(a, b)).lo >= 0) q.lo = std::max<int64_t>(q.lo, -1);     // a >= -b
  return q;
}

// Precondition: b is not a literal 0.
Poly floor_by_poly(DimTable& table, Poly a, Poly b) {
  Poly out;
  while (true) {
    if (a == Poly()) return out;
    cancel(table, a, b);
    if (b.is_literal()) return add(out, floor_by_literal(table, std::move(a), b.constant));
    if (auto q = exact_quotient(table, a, b)) return add(out, *q);
    if (b.terms.size() == 1 && b.constant == 0) {
      const Poly taken = take_multiples(table, a, b.terms[0]);
      if (!(taken == Poly())) {
        out = add(out, taken);
        continue;
      }
    }
    if (a.terms.size() != 1 || a.constant != 0 || tight_interval(b).lo < 0 || !unnest(table, a, b)) break;
  }
  const Interval quotient = quotient_interval(a, b);
  if (quotient.is_point()) return plus(std::move(out), quotient.lo);
  const Dim x = table.intern(std::move(a)), y = table.intern(std::move(b));
  return add(out, atom_poly(table, AtomKind::floor_div, DimOp::floor_div, x, y, quotient));
}

// A modulo by a symbolic divisor.
Poly mod_by_poly(DimTable& table, Poly a, Poly b) {
  if (exact_quotient(table, a, b)) return Poly();
  if (b.terms.size() == 1 && b.constant == 0 && b.terms[0].coefficient > 0) take_multiples(table, a, b.terms[0]);
  if (a == Poly()) return a;
  const Interval quotient = quotient_interval(a, b);
  if (quotient.is_point()) return add(a, b, checked_neg(quotient.lo));
  const Interval bounds = mod(tight_interval(a), divisor_interval(b));
  const Dim x = table.intern(std::move(a)), y = table.intern(std::move(b));
  return atom_poly(table, AtomKind::mod, DimOp::mod, x, y, bounds);
}

bool leads_negative(const Poly& p) { return (p.is_literal() ? p.constant : p.terms[0].coefficient) < 0; }

// Precondition: b is not a literal 0.
Poly trunc_by_poly(DimTable& table, Poly a, Poly b) {
  if (a == Poly()) return a;
  cancel(table, a, b);
  if (auto q = exact_quotient(table, a, b)) return *q;
  const Interval ia = tight_interval(a), ib = tight_interval(b);
  const bool sign_of_b = ib.lo >= 0 || ib.hi <= 0;
  if (sign_of_b && (ia.lo >= 0 || ia.hi <= 0)) {
    const bool negate_a = ia.lo < 0, negate_b = ib.lo < 0;
    if (negate_a) a = scale(std::move(a), -1);
    if (negate_b) b = scale(std::move(b), -1);
    return scale(floor_by_poly(table, std::move(a), std::move(b)), negate_a == negate_b ? 1 : -1);
  }
  if (leads_negative(a)) return scale(trunc_by_poly(table, scale(std::move(a), -1), std::move(b)), -1);
  const Interval bounds = trunc_div(ia, divisor_interval(b));
  if (bounds.is_point()) return Poly(bounds.lo);
  const Dim x = table.intern(std::move(a)), y = table.intern(std::move(b));
  return atom_poly(table, AtomKind::trunc_div, DimOp::trunc_div, x, y, bounds);
}

}  // namespace

Dim floor_div(Dim a, Dim b) {
  if (b.is(0)) division_by_zero();
  if (a.is_literal() && b.is_literal()) return checked_floor_div(a.literal(), b.literal());
  if (b.is(1)) return a;
  if (a.is(0)) return 0;
  if (a == b) return 1;
  DimTable& table = *common_table(a, b);
  return once(table, DimOp::floor_div, a, b,
              [&] { return finish(table, DimOp::floor_div, a, b, floor_by_poly(table, Poly(a), Poly(b))); });
}

Dim ceil_div(Dim a, Dim b) {
  if (b.is_literal() && b.literal() > 0) return floor_div(a + (b - 1), b);
  return -floor_div(-a, b);
}

Dim trunc_div(Dim a, Dim b) {
  if (b.is(0)) division_by_zero();
  if (a.is_literal() && b.is_literal()) return checked_trunc_div(a.literal(), b.literal());
  if (b.is(1)) return a;
  if (a.is(0)) return 0;
  if (a == b) return 1;
  DimTable& table = *common_table(a, b);
  return once(table, DimOp::trunc_div, a, b,
              [&] { return finish(table, DimOp::trunc_div, a, b, trunc_by_poly(table, Poly(a), Poly(b))); });
}

Dim mod(Dim a, Dim b) {
  if (b.is(0)) division_by_zero();
  if (a.is_literal() && b.is_literal()) return floor_mod(a.literal(), b.literal());
  if (a.is(0) || a == b) return 0;
  DimTable& table = *common_table(a, b);
  if (b.is_literal()) return plain_difference(table, a, b * floor_div(a, b));
  return once(table, DimOp::mod, a, b,
              [&] { return finish(table, DimOp::mod, a, b, mod_by_poly(table, Poly(a), Poly(b))); });
}

}  // namespace cameo::ir
