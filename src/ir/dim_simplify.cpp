// Rewriting an expression with what the facts decide inside it.
#include <algorithm>

#include "ir/checked.h"
#include "ir/dim_build.h"
#include "ir/dim_fact_index.h"
#include "support/budget.h"

namespace cameo::ir {
namespace {

class Simplifier {
 public:
  Simplifier(const FactIndex& index, DimTable& table) : index_(index), table_(table) {}

  Dim dim(Dim d) const {
    if (d.is_literal()) return d;
    const Poly& p = d.expr()->poly;
    if (const Interval i = index_.range(p); i.is_point()) return i.lo;
    Dim sum = p.constant;
    for (const Term& t : p.terms) sum = sum + term(t);
    return sum;
  }

 private:
  Dim term(const Term& t) const {
    Dim product = t.coefficient;
    for (const Factor& f : t.monomial->factors) {
      if (const auto exact = exact_multiple(product, f)) {
        product = *exact;
        continue;
      }
      const Dim value = atom(*f.atom);
      for (uint32_t i = 0; i < f.power; ++i) product = product * value;
    }
    return product;
  }

  // 4*floor(n/4) is n - r when n mod 4 is known to be r.
  std::optional<Dim> exact_multiple(Dim product, const Factor& f) const {
    const DimAtom& a = *f.atom;
    if (a.kind != AtomKind::floor_div || f.power != 1 || !product.is_literal() || !a.args[1].is_literal())
      return std::nullopt;
    const int64_t m = a.args[1].literal();
    const auto r = index_.congruence(Poly(a.args[0])).remainder_of(m);
    if (!r || product.literal() % m != 0) return std::nullopt;
    return (dim(a.args[0]) - *r) * (product.literal() / m);
  }

  Dim atom(const DimAtom& a) const {
    if (a.kind == AtomKind::symbol) return Dim::of(a.expr);
    if (const Interval i = index_.range(single(&a)); i.is_point()) return i.lo;
    std::vector<Dim> args;
    for (const Dim d : a.args) args.push_back(dim(d));
    switch (a.kind) {
      case AtomKind::floor_div: return quotient(args[0], args[1]);
      case AtomKind::trunc_div: return truncated(args[0], args[1]);
      case AtomKind::mod: return within(args[0], args[1]) ? args[0] : mod(args[0], args[1]);
      case AtomKind::min:
      case AtomKind::max: return extremum(table_, a.kind == AtomKind::max, undominated(args, a.kind == AtomKind::max));
      case AtomKind::broadcast: return common_size(std::move(args));
      case AtomKind::symbol:
      case AtomKind::opaque: break;
    }
    return rebuild(table_, a, std::move(args));
  }

  Interval range(Dim d) const { return index_.range(Poly(d)); }
  bool less_equal(Dim a, Dim b) const { return index_.range(add(Poly(b), Poly(a), -1)).lo >= 0; }
  // 0 <= a < b
  bool within(Dim a, Dim b) const { return range(a).lo >= 0 && index_.range(add(Poly(b), Poly(a), -1)).lo >= 1; }

  Dim quotient(Dim a, Dim b) const {
    if (within(a, b)) return 0;
    if (!b.is_literal() || b.literal() <= 0) return floor_div(a, b);
    // A known remainder goes: on even h, floor((h - 1)/2) is floor(h/2) - 1.
    const auto r = index_.congruence(Poly(a)).remainder_of(b.literal());
    return floor_div(r ? a - *r : a, b);
  }

  Dim truncated(Dim a, Dim b) const {
    const Interval ia = range(a), ib = range(b);
    if ((ia.lo < 0 && ia.hi > 0) || (ib.lo < 0 && ib.hi > 0)) return trunc_div(a, b);
    const bool negate_a = ia.lo < 0, negate_b = ib.lo < 0;
    const Dim q = quotient(negate_a ? -a : a, negate_b ? -b : b);
    return negate_a == negate_b ? q : -q;
  }

  std::vector<Dim> undominated(std::vector<Dim> args, bool is_max) const {
    for (size_t i = 0; i < args.size(); ++i)
      for (size_t j = 0; j < args.size(); ++j)
        if (i != j && (is_max ? less_equal(args[i], args[j]) : less_equal(args[j], args[i]))) {
          args.erase(args.begin() + static_cast<ptrdiff_t>(i--));
          break;
        }
    return args;
  }

  Dim common_size(std::vector<Dim> args) const {
    std::vector<Dim> open;
    std::optional<Dim> decided;
    for (const Dim d : args) {
      const Answer is_one = index_.is_zero(add(Poly(d), Poly(1), -1));
      // Of several that cannot be 1, and so must be equal, a literal says most.
      if (is_one == Answer::no && (!decided || (d.is_literal() && !decided->is_literal()))) decided = d;
      if (is_one == Answer::unknown) open.push_back(d);
    }
    return decided ? *decided : broadcast_all(table_, std::move(open));
  }

  const FactIndex& index_;
  DimTable& table_;
};

}  // namespace

Dim FactIndex::simplify(Dim d) const {
  const Dim resolved = resolve(d);
  if (resolved.is_literal() || known_.empty()) return resolved;
  if (const auto past = simplified_.find(resolved.expr()); past != simplified_.end()) return past->second;
  checkpoint();
  Dim out = resolved;
  try {
    out = Simplifier(*this, *resolved.expr()->table).dim(resolved);
  } catch (const Error&) {
    // Without a value under these facts, or too big: the form it has is good enough.
  }
  simplified_.emplace(resolved.expr(), out);
  return out;
}

}  // namespace cameo::ir
