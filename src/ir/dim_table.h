// Where atoms, monomials and expressions live: one of each, found again by content. Not for several threads at once.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/dim_expr.h"

namespace cameo::ir {

enum class DimOp : uint8_t { add, subtract, multiply, floor_div, trunc_div, mod, min, max, broadcast, opaque };

class DimTable {
 public:
  // What an expression may grow to before a fresh symbol stands for it. Weight bounds the text as well: a shared
  // subexpression is printed as often as it is used.
  static constexpr size_t max_terms = 64;
  static constexpr uint32_t max_degree = 64, max_depth = 64, max_weight = 2048;

  Dim symbol(std::string_view name, SymbolKind kind);
  Dim fresh(std::string_view hint, SymbolKind kind, Interval interval);
  bool has_symbol(std::string_view name) const { return symbols_.contains(name); }
  // Names that do not read as an expression, as somebody found out: to read one again costs an exception.
  void note_plain(std::string_view name) { plain_names_.emplace(name); }
  bool is_plain(std::string_view name) const { return plain_names_.contains(name); }

  const Monomial* monomial(std::vector<Factor> factors);
  const DimAtom* atom(AtomKind kind, std::string_view name, std::vector<Dim> args, Interval interval);

  static bool fits(const Poly& p);
  static bool atom_fits(std::span<const Dim> args);
  // Precondition: fits(p).
  Dim intern(Poly p);
  // The expression if it was ever interned (nothing can be known about it otherwise); literals always are.
  std::optional<Dim> find(const Poly& p) const;

  // The symbol that stands for an operation whose result does not fit; the same for the same operation.
  Dim stand_in(DimOp op, std::vector<Dim> args, std::string_view name, Interval interval);
  struct StandIn {
    DimOp op;
    std::string name;
    std::vector<Dim> args;
    bool operator<(const StandIn& o) const;
  };
  const StandIn* stood_for(Dim d) const;  // null for other symbols

  // A small cache of past operations: shape inference asks the same few questions over and over.
  std::optional<Dim> remembered(DimOp op, Dim a, Dim b) const;
  Dim remember(DimOp op, Dim a, Dim b, Dim result);

 private:
  struct Hash {
    using is_transparent = void;
    template <class T>
    size_t operator()(const T* p) const {
      return p->hash;
    }
    template <class T>
    size_t operator()(const T& v) const {
      return v.hash;
    }
  };
  struct Equal {
    using is_transparent = void;
    static const Monomial& get(const Monomial* m) { return *m; }
    static const Monomial& get(const Monomial& m) { return m; }
    static const DimAtom& get(const DimAtom* a) { return *a; }
    static const DimAtom& get(const DimAtom& a) { return a; }
    static const DimExpr& get(const DimExpr* e) { return *e; }
    static const DimExpr& get(const DimExpr& e) { return e; }
    static bool same(const Monomial& a, const Monomial& b) { return a.factors == b.factors; }
    static bool same(const DimAtom& a, const DimAtom& b) {
      return a.kind == b.kind && a.name == b.name && a.args == b.args;
    }
    static bool same(const DimExpr& a, const DimExpr& b) { return a.poly == b.poly; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return same(get(a), get(b));
    }
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  struct Past {
    DimOp op = DimOp::add;
    Dim a, b, result;
  };

  const DimAtom* add_atom(DimAtom a);
  Past& slot(DimOp op, Dim a, Dim b) const;

  std::deque<DimAtom> atoms_;
  std::deque<Monomial> monomials_;
  std::deque<DimExpr> exprs_;
  std::unordered_set<const DimAtom*, Hash, Equal> compound_;
  std::unordered_set<const Monomial*, Hash, Equal> monomial_set_;
  std::unordered_set<const DimExpr*, Hash, Equal> expr_set_;
  std::unordered_map<std::string, const DimAtom*, TextHash, std::equal_to<>> symbols_;
  std::unordered_set<std::string, TextHash, std::equal_to<>> plain_names_;
  std::unordered_map<std::string, uint64_t> fresh_count_;
  std::map<StandIn, Dim> stand_ins_;
  std::unordered_map<const DimExpr*, const StandIn*> stood_for_;
  mutable std::vector<Past> past_;
};

// The table that a or b lives in; null when both are literals. Two tables are an invariant failure.
DimTable* common_table(Dim a, Dim b);

}  // namespace cameo::ir
