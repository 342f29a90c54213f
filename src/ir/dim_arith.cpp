#include <algorithm>

#include "ir/checked.h"
#include "ir/dim_build.h"
#include "support/error.h"

namespace cameo::ir {

void dim_overflow() {
  throw error("dim.overflow", "a size does not fit into 64 bits").why("sizes are computed exactly and never wrap");
}

Dim finish(DimTable& table, DimOp op, Dim a, Dim b, Poly p) {
  if (DimTable::fits(p)) return table.intern(std::move(p));
  return table.stand_in(op, {a, b}, "", interval_of(p));
}

namespace {

size_t length_in(const Poly& p) { return p.terms.size() + (p.constant != 0); }

// How much there is to read in a polynomial, and in the arguments of its minima and maxima.
size_t length_of(const Poly& p) {
  size_t length = length_in(p);
  for (const Term& t : p.terms) {
    const DimAtom* const a = atom_of(*t.monomial);
    if (!a || (a->kind != AtomKind::min && a->kind != AtomKind::max)) continue;
    for (const Dim arg : a->args) length += arg.is_literal() ? !arg.is(0) : length_in(arg.expr()->poly);
  }
  return length;
}

// The terms of `rest` that cancel against c times one of the arguments.
Poly cancelling(const Poly& rest, const DimAtom& a, int64_t c) {
  Poly out;
  for (const Term& t : rest.terms)
    for (const Dim arg : a.args) {
      const Poly p(arg);
      const bool cancels = std::any_of(p.terms.begin(), p.terms.end(), [&](const Term& u) {
        return u.monomial == t.monomial && t.coefficient == checked_neg(checked_mul(c, u.coefficient));
      });
      if (!cancels) continue;
      out.terms.push_back(t);
      break;
    }
  return out;
}

// n - max(0, n - 3) is min(n, 3): takes what cancels into the arguments when that leaves less to read.
std::optional<Poly> absorb(DimTable& table, const Poly& p, const Term& t) {
  const DimAtom* const a = atom_of(*t.monomial);
  if (!a || (a->kind != AtomKind::min && a->kind != AtomKind::max)) return std::nullopt;
  const Poly rest = add(p, single(a), checked_neg(t.coefficient));
  Poly taken = cancelling(rest, *a, t.coefficient);
  for (const bool with_constant : {false, true}) {
    if (with_constant && taken.terms.size() == rest.terms.size()) taken.constant = rest.constant;
    if (taken == Poly()) continue;
    std::vector<Dim> args;
    for (const Dim arg : a->args) {
      Poly q = add(taken, Poly(arg), t.coefficient);
      if (!DimTable::fits(q)) return std::nullopt;
      args.push_back(table.intern(std::move(q)));
    }
    const bool is_max = (a->kind == AtomKind::max) == (t.coefficient > 0);
    Poly shorter = add(add(rest, taken, -1), Poly(extremum(table, is_max, std::move(args))));
    if (length_of(shorter) < length_of(p)) return shorter;
  }
  return std::nullopt;
}

const DimAtom* pair_of(const Term& t) {
  const DimAtom* const a = atom_of(*t.monomial);
  return a && (a->kind == AtomKind::min || a->kind == AtomKind::max) && a->args.size() == 2 ? a : nullptr;
}

// S where max(S - p, S - q) meets min(p, q), or where max(S + p, S + q) loses max(p, q).
std::optional<Poly> common_shift(const DimAtom& a, const DimAtom& b, int64_t sign) {
  constexpr int64_t safe = int64_t{1} << 60;  // so that looking does not overflow where the sum itself would not
  for (const DimAtom* atom : {&a, &b})
    for (const Dim arg : atom->args)
      if (const int64_t c = Poly(arg).constant; c <= -safe || c >= safe) return std::nullopt;
  for (const size_t other : {0, 1}) {
    Poly shift = add(Poly(a.args[0]), Poly(b.args[other]), sign);
    if (shift == add(Poly(a.args[1]), Poly(b.args[1 - other]), sign)) return shift;
  }
  return std::nullopt;
}

// min(n, w) + max(0, w - n) is w: the two parts of something that was cut.
std::optional<Poly> reunite(const Poly& p, const Term& t) {
  const DimAtom* const a = pair_of(t);
  if (!a) return std::nullopt;
  for (const Term& u : p.terms) {
    const DimAtom* const b = &u == &t ? nullptr : pair_of(u);
    if (!b || u.coefficient != (a->kind == b->kind ? checked_neg(t.coefficient) : t.coefficient)) continue;
    const auto shift = common_shift(*a, *b, a->kind == b->kind ? -1 : 1);
    if (!shift) continue;
    const Poly rest = add(add(p, single(a), checked_neg(t.coefficient)), single(b), checked_neg(u.coefficient));
    Poly shorter = add(rest, *shift, t.coefficient);
    if (length_of(shorter) < length_of(p)) return shorter;
  }
  return std::nullopt;
}

// The sum of two dims: what min and max hide may cancel now. Each step leaves less, so that it ends.
Dim finish_sum(DimTable& table, DimOp op, Dim a, Dim b, Poly p) {
  for (size_t i = 0; i < p.terms.size() && DimTable::fits(p);) {
    auto shorter = length_of(p) > 1 ? reunite(p, p.terms[i]) : std::nullopt;
    if (!shorter && length_of(p) > 1) shorter = absorb(table, p, p.terms[i]);
    if (shorter) p = std::move(*shorter);
    i = shorter ? 0 : i + 1;
  }
  return finish(table, op, a, b, std::move(p));
}

}  // namespace

Dim plain_sum(DimTable& table, Dim a, Dim b) { return finish(table, DimOp::add, a, b, add(Poly(a), Poly(b))); }
Dim plain_difference(DimTable& table, Dim a, Dim b) {
  return finish(table, DimOp::subtract, a, b, add(Poly(a), Poly(b), -1));
}

Dim operator+(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return checked_add(a.literal(), b.literal());
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  DimTable& table = *common_table(a, b);
  if (b.hash() < a.hash()) std::swap(a, b);
  return once(table, DimOp::add, a, b, [&] { return finish_sum(table, DimOp::add, a, b, add(Poly(a), Poly(b))); });
}

Dim operator-(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return checked_sub(a.literal(), b.literal());
  if (b.is(0)) return a;
  if (a == b) return 0;
  DimTable& table = *common_table(a, b);
  return once(table, DimOp::subtract, a, b,
              [&] { return finish_sum(table, DimOp::subtract, a, b, add(Poly(a), Poly(b), -1)); });
}

Dim operator-(Dim a) { return Dim(0) - a; }

Dim operator*(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return checked_mul(a.literal(), b.literal());
  if (a.is(0) || b.is(0)) return 0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  DimTable& table = *common_table(a, b);
  if (b.hash() < a.hash()) std::swap(a, b);
  return once(table, DimOp::multiply, a, b,
              [&] { return finish(table, DimOp::multiply, a, b, multiply(table, Poly(a), Poly(b))); });
}

}  // namespace cameo::ir
