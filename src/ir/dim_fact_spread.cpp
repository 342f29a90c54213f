// Recording a fact, and what follows from it for the parts of the expression.
#include <algorithm>

#include "ir/checked.h"
#include "ir/dim_fact_index.h"
#include "ir/dim_poly.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

constexpr int max_depth = 6;

// The part of `i` that has the right remainder at its ends.
Interval round_inwards(Interval i, Congruence c) {
  if (c.modulus <= 1) return i;
  const int64_t m = c.modulus;
  if (i.bounded_below() && i.lo < INT64_MAX - m) i.lo += floor_mod(checked_sub(c.remainder, i.lo % m), m);
  if (i.bounded_above() && i.hi > INT64_MIN + m) i.hi -= floor_mod(checked_sub(i.hi % m, c.remainder), m);
  return i;
}

Poly without(const Poly& p, size_t term) {
  Poly rest = p;
  rest.terms.erase(rest.terms.begin() + static_cast<ptrdiff_t>(term));
  return rest;
}

Poly monomial_poly(const Monomial* m) {
  Poly p;
  p.terms.push_back({m, 1});
  return p;
}

// Whether the atom occurs in p only as that one term, so that p == 0 can be solved for it.
bool occurs_once(const Poly& p, size_t term) {
  const DimAtom* const symbol = atom_of(*p.terms[term].monomial);
  const Dim s = Dim::of(symbol->expr);
  for (size_t i = 0; i < p.terms.size(); ++i) {
    if (i == term) continue;
    for (const Factor& f : p.terms[i].monomial->factors) {
      if (f.atom == symbol) return false;
      for (const Dim arg : f.atom->args) {
        const auto inside = symbols_of(arg);
        if (std::find(inside.begin(), inside.end(), s) != inside.end()) return false;
      }
    }
  }
  return true;
}

struct Solution {
  const DimAtom* symbol = nullptr;
  Poly value;
};

// Smaller is better: plain values first; among equals a made-up symbol goes rather than a named one.
int cost_of(const Solution& s) {
  int cost = s.value.is_literal() ? 0 : s.value.terms.size() == 1 && s.value.constant == 0 ? 2 : 4;
  for (const Term& t : s.value.terms)
    if (t.coefficient < 0) cost = 6;
  return cost + (s.symbol->fresh ? 0 : 1);
}

std::optional<Solution> solve_for_symbol(const Poly& p) {
  std::optional<Solution> best;
  for (size_t i = 0; i < p.terms.size(); ++i) {
    const DimAtom* const a = atom_of(*p.terms[i].monomial);
    const int64_t c = p.terms[i].coefficient;
    if (!a || a->kind != AtomKind::symbol || (c != 1 && c != -1) || !occurs_once(p, i)) continue;
    Solution s{a, scale(without(p, i), -c)};
    if (!best || cost_of(s) <= cost_of(*best)) best = std::move(s);  // of equal ones the last name goes
  }
  return best;
}

}  // namespace

bool FactIndex::add_range(DimTable& table, const Poly& p, Interval i, int depth) {
  if (p.is_literal()) return i.contains(p.constant);
  if (depth > max_depth) return true;  // weaker than it could be, still true
  const Scaled s = scaled(p);
  const Interval wanted = unscale(i - Interval::point(s.offset), s.factor);
  const Interval now = range(s.key);
  const Interval both = round_inwards(intersect(now, wanted), congruence(s.key));
  if (both.empty()) return false;
  if (both == now) return true;
  const DimExpr* const key = table.intern(s.key).expr();
  change(key).range = both;
  return settle_range(table, key, depth) && spread_range(table, s.key, both, depth);
}

// An excluded end may leave one value only, and a symbol with one value is that value.
bool FactIndex::settle_range(DimTable& table, const DimExpr* key, int depth) {
  const Interval i = range(key->poly);
  const DimAtom* const a = key->atom();
  if (!i.is_point() || !a || a->kind != AtomKind::symbol || known_[key].replacement) return true;
  return replace(table, *a, i.lo, depth);
}

bool FactIndex::spread_range(DimTable& table, const Poly& key, Interval i, int depth) {
  if (key.terms.size() > 1) return spread_to_terms(table, key, i, depth);
  const Monomial& m = *key.terms[0].monomial;
  if (const DimAtom* const a = atom_of(m)) return spread_to_atom(table, *a, i, depth);
  return spread_to_factors(table, m, i, depth);
}

bool FactIndex::spread_to_atom(DimTable& table, const DimAtom& a, Interval i, int depth) {
  if (a.kind == AtomKind::floor_div && a.args[1].is_literal()) {
    const int64_t m = a.args[1].literal();
    return add_range(table, Poly(a.args[0]), i * Interval::point(m) + Interval{0, m - 1}, depth + 1);
  }
  const bool is_max = a.kind == AtomKind::max;
  if (!is_max && a.kind != AtomKind::min) return true;
  const Interval part = is_max ? Interval{Interval::minus_infinity, i.hi} : Interval{i.lo, Interval::plus_infinity};
  return std::all_of(a.args.begin(), a.args.end(), [&](Dim d) { return add_range(table, Poly(d), part, depth + 1); });
}

// h*w in [lo, hi] with neither negative bounds both.
bool FactIndex::spread_to_factors(DimTable& table, const Monomial& m, Interval i, int depth) {
  if (m.factors.size() == 1) return true;
  std::vector<Interval> each;
  for (const Factor& f : m.factors) each.push_back(power(range(single(f.atom)), f.power));
  for (const Interval& e : each)
    if (e.lo < 0) return true;
  for (size_t k = 0; k < each.size(); ++k) {
    Interval others = Interval::point(1), part = Interval::at_least(i.lo >= 1 ? 1 : 0);
    for (size_t j = 0; j < each.size(); ++j)
      if (j != k) others = others * each[j];
    if (i.lo >= 1) others = intersect(others, Interval::at_least(1));
    if (others.lo >= 1 && i.bounded_above()) part.hi = i.hi / others.lo;
    if (others.bounded_above() && others.hi >= 1 && i.lo >= 1) part.lo = std::max(part.lo, (i.lo - 1) / others.hi + 1);
    if (m.factors[k].power == 1 && !add_range(table, single(m.factors[k].atom), part, depth + 1)) return false;
  }
  return true;
}

bool FactIndex::spread_to_terms(DimTable& table, const Poly& key, Interval i, int depth) {
  for (size_t k = 0; k < key.terms.size(); ++k) {
    const Interval part = unscale(i - range(without(key, k)), key.terms[k].coefficient);
    if (!add_range(table, monomial_poly(key.terms[k].monomial), part, depth + 1)) return false;
  }
  return true;
}

bool FactIndex::add_congruence(DimTable& table, const Poly& p, Congruence c, int depth) {
  if (p.is_literal()) return !c.contradicts(Congruence::exactly(p.constant));
  if (!c.informative() || depth > max_depth) return true;
  const Scaled s = scaled(p);
  const auto wanted = solve(c + Congruence::exactly(checked_neg(s.offset)), s.factor);
  if (!wanted) return false;
  const Congruence now = congruence(s.key);
  if (now.contradicts(*wanted)) return false;
  const Congruence both = meet(now, *wanted);
  if (both == now) return true;
  change(table.intern(s.key).expr()).congruence = both;
  return add_range(table, s.key, range(s.key), depth + 1) && spread_congruence(table, s.key, both, depth);
}

// Of the terms, those that the modulus divides drop out: 4*h + w = 0 mod 4 says w = 0 mod 4.
bool FactIndex::spread_congruence(DimTable& table, const Poly& key, Congruence c, int depth) {
  if (key.terms.size() < 2) return true;
  for (size_t k = 0; k < key.terms.size(); ++k) {
    const Congruence rest = congruence(without(key, k));
    const Congruence part = c + Congruence::exactly(-1) * rest;
    const auto wanted = solve(part, key.terms[k].coefficient);
    if (!wanted || !add_congruence(table, monomial_poly(key.terms[k].monomial), *wanted, depth + 1)) return false;
  }
  return true;
}

bool FactIndex::add_zero(DimTable& table, Poly p, int depth) {
  if (p.is_literal()) return p.constant == 0;
  const Scaled s = scaled(p);
  if (s.offset % s.factor != 0) return false;
  p = divide_exactly(std::move(p), s.factor);
  // h*w == h*k says w == k once h is known not to be 0.
  if (p.constant == 0) {
    std::vector<Factor> shared = p.terms[0].monomial->factors;
    for (const Term& t : p.terms) shared = common_factors(shared, t.monomial->factors);
    std::erase_if(shared, [&](const Factor& f) { return range(single(f.atom)).contains(0); });
    if (!shared.empty()) p = divide_by_factors(table, p, shared);
    if (p.is_literal()) return p.constant == 0;
  }
  if (const auto solution = solve_for_symbol(p); solution && DimTable::fits(solution->value))
    return replace(table, *solution->symbol, table.intern(solution->value), depth);
  return add_range(table, p, Interval::point(0), depth) && add_congruence(table, p, Congruence::exactly(0), depth);
}

}  // namespace cameo::ir
