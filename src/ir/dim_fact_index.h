// What follows from the recorded facts, indexed for questions, with an undo log.
//
// Equalities become replacements of symbols; all else is kept per key. A key is an expression without constant whose
// coefficients have no common divisor and whose first one is positive: 4*h + 2 and -2*h share what is known of h.
#pragma once

#include <unordered_map>

#include "ir/dim_congruence.h"
#include "ir/dim_facts.h"
#include "ir/dim_range.h"
#include "ir/dim_table.h"

namespace cameo::ir {

// p == factor * key + offset
struct Scaled {
  Poly key;
  int64_t factor = 1, offset = 0;
};
// Precondition: p is not a literal.
Scaled scaled(const Poly& p);

class FactIndex final : public DimKnowledge {
 public:
  // Questions. Dims are resolved: no symbol in them has a replacement.
  Dim resolve(Dim d) const;
  Interval tighten(const Poly& p, Interval form) const override;
  Interval range(const Poly& p) const { return bounds(p, *this); }
  Congruence congruence(const Poly& p) const;
  Answer is_zero(const Poly& p) const;
  Dim simplify(Dim d) const;

  // Each returns false on a contradiction; what was recorded until then is taken back with rewind.
  bool add_range(DimTable& table, const Poly& p, Interval i, int depth = 0);
  bool add_congruence(DimTable& table, const Poly& p, Congruence c, int depth = 0);
  bool add_zero(DimTable& table, Poly p, int depth = 0);
  bool add_nonzero(DimTable& table, const Poly& p);

  size_t mark() const { return log_.size(); }
  void rewind(size_t mark);

 private:
  struct Known {
    std::optional<Dim> replacement;  // of a symbol
    Interval range;
    Congruence congruence;
    std::vector<int64_t> excluded;
  };
  struct Undo {
    const DimExpr* key;
    std::optional<Known> before;
  };
  struct Hash {
    size_t operator()(const DimExpr* e) const { return e->hash; }
  };

  const Known* find(const Poly& key) const;
  bool is_excluded(const Poly& p) const;  // p == 0 was ruled out
  Known& change(const DimExpr* key);      // logs the old state first
  Congruence congruence(const DimAtom& a) const;

  bool settle_range(DimTable& table, const DimExpr* key, int depth);
  bool spread_range(DimTable& table, const Poly& key, Interval i, int depth);
  bool spread_to_atom(DimTable& table, const DimAtom& a, Interval i, int depth);
  bool spread_to_factors(DimTable& table, const Monomial& m, Interval i, int depth);
  bool spread_to_terms(DimTable& table, const Poly& key, Interval i, int depth);
  bool spread_congruence(DimTable& table, const Poly& key, Congruence c, int depth);
  bool replace(DimTable& table, const DimAtom& symbol, Dim value, int depth);

  std::unordered_map<const DimExpr*, Known, Hash> known_;
  std::vector<Undo> log_;
  size_t replacements_ = 0;
  mutable std::unordered_map<const DimExpr*, Dim, Hash> resolved_, simplified_;
};

}  // namespace cameo::ir
