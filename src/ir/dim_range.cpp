#include "ir/dim_range.h"

#include "ir/dim_poly.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

constexpr int max_level = 3;

class Bounder {
 public:
  explicit Bounder(const DimKnowledge& known) : known_(known) {}

  Interval poly(const Poly& p, int level) {
    Interval sum = Interval::point(p.constant);
    for (const Term& t : p.terms) sum = sum + Interval::point(t.coefficient) * monomial(*t.monomial, level);
    sum = known_.tighten(p, sum);
    if (level >= max_level || p.terms.size() < 2) return sum;
    for (const Term& t : p.terms) {
      const DimAtom* const a = atom_of(*t.monomial);
      if (a && a->kind != AtomKind::symbol && budget_ > 0) sum = intersect(sum, through(p, t, *a, level));
    }
    return sum;
  }

 private:
  Interval monomial(const Monomial& m, int level) {
    Interval product = Interval::point(1);
    for (const Factor& f : m.factors) product = product * power(atom(*f.atom, level), f.power);
    if (atom_of(m)) return product;
    Poly p;
    p.terms.push_back({&m, 1});
    return known_.tighten(p, product);
  }

  Interval dim(Dim d, int level) { return d.is_literal() ? Interval::point(d.literal()) : poly(d.expr()->poly, level); }

  Interval atom(const DimAtom& a, int level) {
    Interval i = a.interval;
    if (a.kind != AtomKind::symbol && a.kind != AtomKind::opaque && budget_-- > 0) {
      std::vector<Interval> args;
      for (const Dim d : a.args) args.push_back(dim(d, level + 1));
      i = intersect(i, apply(a.kind, args));
    }
    return known_.tighten(single(&a), i);
  }

  static Interval apply(AtomKind kind, const std::vector<Interval>& args) {
    Interval i = args[0];
    Interval divisor = args[1];
    if (divisor.lo >= 0) divisor = intersect(divisor, Interval::at_least(1));
    switch (kind) {
      case AtomKind::floor_div: return floor_div(i, divisor);
      case AtomKind::trunc_div: return trunc_div(i, divisor);
      case AtomKind::mod: return mod(i, divisor);
      case AtomKind::min:
        for (const Interval& a : args) i = min_of(i, a);
        return i;
      case AtomKind::max:
        for (const Interval& a : args) i = max_of(i, a);
        return i;
      case AtomKind::broadcast: return broadcast(args);
      case AtomKind::symbol:
      case AtomKind::opaque: break;
    }
    return {};
  }

  static Interval broadcast(const std::vector<Interval>& args) {
    Interval all = args[0], most = args[0];
    for (const Interval& a : args) {
      all = hull(all, a);
      most = max_of(most, a);
    }
    return all.lo >= 1 ? most : all;
  }

  // The bounds of p with the atom of term t replaced by what it is made of, so that it can cancel.
  Interval through(const Poly& p, const Term& t, const DimAtom& a, int level) {
    --budget_;
    try {
      const Poly rest = add(p, single(&a), -t.coefficient);
      if (a.kind == AtomKind::floor_div) return through_floor(rest, t.coefficient, a, level);
      if (a.kind == AtomKind::min || a.kind == AtomKind::max || a.kind == AtomKind::broadcast)
        return through_choice(rest, t.coefficient, a, level);
    } catch (const Error&) {
      // Too big for 64 bits on the way: this way gives no bounds.
    }
    return {};
  }

  // m*floor(x/m) is x - r with r in [0, m).
  Interval through_floor(const Poly& rest, int64_t c, const DimAtom& a, int level) {
    if (!a.args[1].is_literal()) return {};
    const int64_t m = a.args[1].literal();
    const Interval remainder = Interval::point(-c) * Interval{0, m - 1};
    return unscale(poly(add(scale(rest, m), Poly(a.args[0]), c), level + 1) + remainder, m);
  }

  Interval through_choice(const Poly& rest, int64_t c, const DimAtom& a, int level) {
    std::optional<Interval> all;
    for (const Dim d : a.args) {
      const Interval i = poly(add(rest, Poly(d), c), level + 1);
      if (!all) all = i;
      else if (a.kind == AtomKind::broadcast) all = hull(*all, i);
      else all = (a.kind == AtomKind::max) == (c > 0) ? max_of(*all, i) : min_of(*all, i);
    }
    return *all;
  }

  const DimKnowledge& known_;
  int budget_ = 200;
};

}  // namespace

Interval DimKnowledge::tighten(const Poly&, Interval form) const { return form; }

Interval bounds(const Poly& p, const DimKnowledge& known) { return Bounder(known).poly(p, 0); }

Interval tight_interval(const Poly& p) {
  for (const Term& t : p.terms)
    for (const Factor& f : t.monomial->factors)
      if (f.atom->kind != AtomKind::symbol) return bounds(p, DimKnowledge());
  return interval_of(p);  // plain symbols do not cancel
}

Interval tight_interval(Dim d) {
  if (d.is_literal()) return Interval::point(d.literal());
  const DimExpr& e = *d.expr();
  if (!e.refined) {
    e.tight = tight_interval(e.poly);
    e.refined = true;
  }
  return e.tight;
}

bool always_less_equal(Dim a, Dim b) {
  if (a.is_literal() && b.is_literal()) return a.literal() <= b.literal();
  try {
    return tight_interval(add(Poly(b), Poly(a), -1)).lo >= 0;
  } catch (const Error&) {
    return false;
  }
}

DimRange range_of(Dim d) { return tight_interval(d).range(); }

}  // namespace cameo::ir
