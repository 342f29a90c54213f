#include "ir/dim_expr.h"

namespace cameo::ir {
namespace {

template <class T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compare(const Poly& a, const Poly& b) {
  for (size_t i = 0; i < a.terms.size() && i < b.terms.size(); ++i) {
    if (const int c = compare(*a.terms[i].monomial, *b.terms[i].monomial)) return c;
    if (const int c = three_way(a.terms[i].coefficient, b.terms[i].coefficient)) return c;
  }
  if (const int c = three_way(a.terms.size(), b.terms.size())) return c;
  return three_way(a.constant, b.constant);
}

}  // namespace

Poly::Poly(Dim d) {
  if (d.is_literal()) constant = d.literal();
  else *this = d.expr()->poly;
}

const DimAtom* DimExpr::atom() const {
  if (poly.terms.size() != 1 || poly.constant != 0 || poly.terms[0].coefficient != 1) return nullptr;
  return atom_of(*poly.terms[0].monomial);
}

int compare(const DimAtom& a, const DimAtom& b) {
  if (&a == &b) return 0;
  if (const int c = three_way(a.kind, b.kind)) return c;
  if (const int c = a.name.compare(b.name)) return c < 0 ? -1 : 1;
  for (size_t i = 0; i < a.args.size() && i < b.args.size(); ++i)
    if (const int c = compare(a.args[i], b.args[i])) return c;
  return three_way(a.args.size(), b.args.size());
}

int compare(const Monomial& a, const Monomial& b) {
  if (&a == &b) return 0;
  if (const int c = three_way(b.degree, a.degree)) return c;
  for (size_t i = 0; i < a.factors.size() && i < b.factors.size(); ++i) {
    if (const int c = compare(*a.factors[i].atom, *b.factors[i].atom)) return c;
    if (const int c = three_way(b.factors[i].power, a.factors[i].power)) return c;
  }
  return 0;
}

int compare(Dim a, Dim b) {
  if (a == b) return 0;
  if (a.is_literal() || b.is_literal()) {
    if (a.is_literal() != b.is_literal()) return a.is_literal() ? -1 : 1;
    return three_way(a.literal(), b.literal());
  }
  return compare(a.expr()->poly, b.expr()->poly);
}

Interval interval_of(const Poly& p) {
  Interval sum = Interval::point(p.constant);
  for (const Term& t : p.terms) sum = sum + Interval::point(t.coefficient) * t.monomial->interval;
  return sum;
}

}  // namespace cameo::ir
