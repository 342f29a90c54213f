// The normal form behind Dim, for the files that build, print and question it; all others use dim.h and dim_view.h.
//
// An expression is a polynomial with integer coefficients over atoms: symbols, and functions that polynomials cannot
// express. Atoms, monomials and expressions are hash-consed in a DimTable: equal ones are one object.
// A modulo by a literal is not an atom: mod(a, m) is a - m*floor(a/m), so a = m*floor(a/m) + mod(a, m) needs no rule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "ir/dim_interval.h"

namespace cameo::ir {

class DimTable;

enum class AtomKind : uint8_t { symbol, floor_div, trunc_div, mod, min, max, broadcast, opaque };

struct DimAtom {
  AtomKind kind = AtomKind::symbol;
  SymbolKind symbol_kind = SymbolKind::size;
  bool fresh = false;
  bool mentions_fresh = false;
  uint32_t depth = 0;   // nesting of atoms, a symbol is 0
  uint32_t weight = 1;  // nodes when written out as a tree
  size_t hash = 0;
  std::string name;               // symbol, opaque
  std::vector<Dim> args;          // min, max, broadcast: sorted, distinct, two or more
  Interval interval;              // holds whatever the symbols are
  const DimExpr* expr = nullptr;  // this atom as an expression
};

struct Factor {
  const DimAtom* atom;
  uint32_t power;  // >= 1
  friend bool operator==(const Factor&, const Factor&) = default;
};

struct Monomial {
  std::vector<Factor> factors;  // sorted by atom, at least one
  uint32_t degree = 0;
  size_t hash = 0;
  Interval interval;
};

struct Term {
  const Monomial* monomial;
  int64_t coefficient;  // never 0
  friend bool operator==(const Term&, const Term&) = default;
};

// A polynomial under construction: terms sorted by compare(Monomial), each monomial once.
struct Poly {
  std::vector<Term> terms;
  int64_t constant = 0;

  Poly() = default;
  explicit Poly(int64_t v) : constant(v) {}
  explicit Poly(Dim d);
  bool is_literal() const { return terms.empty(); }
  friend bool operator==(const Poly&, const Poly&) = default;
};

struct DimExpr {
  DimTable* table = nullptr;
  Poly poly;  // at least one term
  bool mentions_fresh = false;
  uint32_t depth = 0, weight = 1;
  size_t hash = 0;
  Interval interval;             // term by term, without looking for cancellation
  mutable bool refined = false;  // `tight` holds the bounds that range_of gives
  mutable Interval tight;
  mutable std::string text;  // made when first asked for

  // The atom if the expression is only that atom, else null.
  const DimAtom* atom() const;
};

// The atom that `d` is, or null.
inline const DimAtom* atom_of(Dim d) { return d.is_literal() ? nullptr : d.expr()->atom(); }
// The atom when the monomial is that atom to the power of one, else null.
inline const DimAtom* atom_of(const Monomial& m) {
  return m.factors.size() == 1 && m.factors[0].power == 1 ? m.factors[0].atom : nullptr;
}

// Orders that depend only on names and structure, never on addresses or on the order of creation.
// Monomials: higher degree first, then lexicographic (a monomial order, so that polynomials can be divided).
int compare(const DimAtom& a, const DimAtom& b);
int compare(const Monomial& a, const Monomial& b);
int compare(Dim a, Dim b);  // literals first, by value

Interval interval_of(const Poly& p);
inline Interval interval_of(Dim d) { return d.is_literal() ? Interval::point(d.literal()) : d.expr()->interval; }

inline size_t mix_hash(size_t seed, size_t v) {
  uint64_t h = (uint64_t{seed} * 0x9e3779b97f4a7c15u) ^ (uint64_t{v} + 0x9e3779b97f4a7c15u);
  h = (h ^ (h >> 29)) * 0xff51afd7ed558ccdu;
  return static_cast<size_t>(h ^ (h >> 32));
}

}  // namespace cameo::ir
