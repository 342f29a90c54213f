#include "ir/dim_poly.h"

#include <numeric>

#include "ir/checked.h"

namespace cameo::ir {
namespace {

void append_scaled(Poly& out, const Term& t, int64_t by) {
  if (const int64_t c = checked_mul(t.coefficient, by)) out.terms.push_back({t.monomial, c});
}

std::vector<Factor> multiply(const std::vector<Factor>& a, const std::vector<Factor>& b) {
  std::vector<Factor> out;
  out.reserve(a.size() + b.size());
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const int order = compare(*a[i].atom, *b[j].atom);
    if (order == 0) {
      out.push_back({a[i].atom, a[i].power + b[j].power});
      ++i, ++j;
    } else {
      out.push_back(order < 0 ? a[i++] : b[j++]);
    }
  }
  out.insert(out.end(), a.begin() + static_cast<ptrdiff_t>(i), a.end());
  out.insert(out.end(), b.begin() + static_cast<ptrdiff_t>(j), b.end());
  return out;
}

// A monomial times a polynomial keeps the order of its terms, as any monomial order does.
Poly times_term(DimTable& table, const Poly& p, const Term& t) {
  Poly out;
  out.terms.reserve(p.terms.size() + 1);
  for (const Term& u : p.terms)
    out.terms.push_back({table.monomial(multiply(u.monomial->factors, t.monomial->factors)),
                         checked_mul(u.coefficient, t.coefficient)});
  if (p.constant) out.terms.push_back({t.monomial, checked_mul(p.constant, t.coefficient)});
  return out;
}

}  // namespace

Poly single(const DimAtom* atom) { return atom->expr->poly; }

Poly add(const Poly& a, const Poly& b, int64_t by) {
  Poly out;
  out.constant = checked_add(a.constant, checked_mul(b.constant, by));
  out.terms.reserve(a.terms.size() + b.terms.size());
  size_t i = 0, j = 0;
  while (i < a.terms.size() && j < b.terms.size()) {
    const int order = compare(*a.terms[i].monomial, *b.terms[j].monomial);
    if (order == 0) {
      const int64_t c = checked_add(a.terms[i].coefficient, checked_mul(b.terms[j].coefficient, by));
      if (c) out.terms.push_back({a.terms[i].monomial, c});
      ++i, ++j;
    } else if (order < 0) {
      out.terms.push_back(a.terms[i++]);
    } else {
      append_scaled(out, b.terms[j++], by);
    }
  }
  out.terms.insert(out.terms.end(), a.terms.begin() + static_cast<ptrdiff_t>(i), a.terms.end());
  for (; j < b.terms.size(); ++j) append_scaled(out, b.terms[j], by);
  return out;
}

Poly scale(Poly p, int64_t by) {
  if (by == 0) return Poly();
  for (Term& t : p.terms) t.coefficient = checked_mul(t.coefficient, by);
  p.constant = checked_mul(p.constant, by);
  return p;
}

Poly multiply(DimTable& table, const Poly& a, const Poly& b) {
  if (a.is_literal()) return scale(b, a.constant);
  Poly out = scale(b, a.constant);
  for (const Term& t : a.terms) out = add(out, times_term(table, b, t));
  return out;
}

Poly divide_exactly(Poly p, int64_t by) {
  if (by == 1) return p;
  for (Term& t : p.terms) t.coefficient = checked_trunc_div(t.coefficient, by);
  p.constant = checked_trunc_div(p.constant, by);
  return p;
}

int64_t common_divisor(int64_t a, int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN) dim_overflow();
  return std::gcd(a, b);
}

int64_t content(const Poly& p) {
  int64_t g = 0;
  for (const Term& t : p.terms) g = common_divisor(g, t.coefficient);
  return g;
}

std::vector<Factor> common_factors(const std::vector<Factor>& a, const std::vector<Factor>& b) {
  std::vector<Factor> out;
  for (const Factor& f : a)
    for (const Factor& g : b)
      if (f.atom == g.atom) out.push_back({f.atom, std::min(f.power, g.power)});
  return out;
}

std::optional<std::vector<Factor>> divide(const std::vector<Factor>& m, const std::vector<Factor>& by) {
  std::vector<Factor> out;
  size_t matched = 0;
  for (const Factor& f : m) {
    uint32_t power = f.power;
    for (const Factor& g : by)
      if (f.atom == g.atom) {
        if (g.power > power) return std::nullopt;
        power -= g.power;
        ++matched;
      }
    if (power) out.push_back({f.atom, power});
  }
  if (matched != by.size()) return std::nullopt;
  return out;
}

Poly divide_by_factors(DimTable& table, const Poly& p, const std::vector<Factor>& m) {
  Poly out;
  for (const Term& t : p.terms) {
    std::vector<Factor> rest = *divide(t.monomial->factors, m);
    if (rest.empty()) out.constant = t.coefficient;
    else out.terms.push_back({table.monomial(std::move(rest)), t.coefficient});
  }
  return out;
}

std::optional<Poly> exact_quotient(DimTable& table, const Poly& a, const Poly& b) {
  Poly rest = a, quotient;
  for (size_t step = 0; step <= DimTable::max_terms; ++step) {
    if (rest.is_literal() && (rest.constant == 0 || !b.is_literal())) {
      if (rest.constant == 0) return quotient;
      return std::nullopt;
    }
    const int64_t lead_a = rest.is_literal() ? rest.constant : rest.terms[0].coefficient;
    const int64_t lead_b = b.is_literal() ? b.constant : b.terms[0].coefficient;
    if (lead_a == INT64_MIN || lead_a % lead_b != 0) return std::nullopt;
    const int64_t c = lead_a / lead_b;
    Poly piece(c);
    if (!rest.is_literal()) {
      auto factors = b.is_literal() ? rest.terms[0].monomial->factors
                                    : divide(rest.terms[0].monomial->factors, b.terms[0].monomial->factors);
      if (!factors) return std::nullopt;
      if (!factors->empty()) {
        piece.constant = 0;
        piece.terms.push_back({table.monomial(std::move(*factors)), c});
      }
    }
    quotient = add(quotient, piece);
    rest = add(rest, multiply(table, piece, b), -1);
  }
  return std::nullopt;
}

}  // namespace cameo::ir
