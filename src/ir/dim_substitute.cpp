// Walking expressions: symbols, substitution, evaluation.
#include <algorithm>

#include "ir/checked.h"
#include "ir/dim_build.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

template <class Visit>
void for_each_symbol(Dim d, const Visit& visit) {
  if (d.is_literal()) return;
  for (const Term& t : d.expr()->poly.terms)
    for (const Factor& f : t.monomial->factors) {
      if (f.atom->kind == AtomKind::symbol) visit(f.atom);
      for (const Dim arg : f.atom->args) for_each_symbol(arg, visit);
    }
}

class Substituter {
 public:
  Substituter(DimTable& table, std::span<const Substitution> map) : table_(table), map_(map) {}

  Dim dim(Dim d) const {
    if (d.is_literal() || !affected(d)) return d;
    Dim sum = d.expr()->poly.constant;
    for (const Term& t : d.expr()->poly.terms) {
      Dim product = t.coefficient;
      for (const Factor& f : t.monomial->factors) {
        const Dim value = atom(*f.atom);
        for (uint32_t i = 0; i < f.power; ++i) product = product * value;
      }
      sum = sum + product;
    }
    return sum;
  }

 private:
  bool affected(Dim d) const {
    bool hit = false;
    for_each_symbol(d, [&](const DimAtom* a) { hit = hit || find(a) != nullptr; });
    return hit;
  }
  const Substitution* find(const DimAtom* a) const {
    for (const Substitution& s : map_)
      if (s.symbol.expr() == a->expr) return &s;
    return nullptr;
  }

  Dim atom(const DimAtom& a) const {
    if (a.kind == AtomKind::symbol) {
      const Substitution* const s = find(&a);
      return s ? s->value : Dim::of(a.expr);
    }
    std::vector<Dim> args;
    for (const Dim d : a.args) args.push_back(dim(d));
    return rebuild(table_, a, std::move(args));
  }

  DimTable& table_;
  std::span<const Substitution> map_;
};

// Evaluation reports what has no value by throwing Undefined, which never leaves this file.
struct Undefined {};

int64_t value_of(const DimAtom& a, std::span<const Substitution> map);

int64_t value_of(Dim d, std::span<const Substitution> map) {
  if (d.is_literal()) return d.literal();
  int64_t sum = d.expr()->poly.constant;
  for (const Term& t : d.expr()->poly.terms) {
    int64_t product = t.coefficient;
    for (const Factor& f : t.monomial->factors) {
      const int64_t v = value_of(*f.atom, map);
      for (uint32_t i = 0; i < f.power; ++i) product = checked_mul(product, v);
    }
    sum = checked_add(sum, product);
  }
  return sum;
}

int64_t value_of_symbol(const DimAtom& a, std::span<const Substitution> map) {
  for (const Substitution& s : map)
    if (s.symbol.expr() == a.expr && s.value.is_literal()) return s.value.literal();
  throw Undefined();
}

int64_t broadcast_value(const std::vector<int64_t>& values) {
  int64_t size = 1;
  for (const int64_t v : values) {
    if (v == 1 || v == size) continue;
    if (size != 1) throw Undefined();
    size = v;
  }
  return size;
}

int64_t value_of(const DimAtom& a, std::span<const Substitution> map) {
  if (a.kind == AtomKind::symbol) return value_of_symbol(a, map);
  std::vector<int64_t> v;
  for (const Dim d : a.args) v.push_back(value_of(d, map));
  const bool divides = a.kind == AtomKind::floor_div || a.kind == AtomKind::trunc_div || a.kind == AtomKind::mod;
  if (divides && v[1] == 0) throw Undefined();
  switch (a.kind) {
    case AtomKind::floor_div: return checked_floor_div(v[0], v[1]);
    case AtomKind::trunc_div: return checked_trunc_div(v[0], v[1]);
    case AtomKind::mod: return floor_mod(v[0], v[1]);
    case AtomKind::min: return *std::min_element(v.begin(), v.end());
    case AtomKind::max: return *std::max_element(v.begin(), v.end());
    case AtomKind::broadcast: return broadcast_value(v);
    case AtomKind::symbol:
    case AtomKind::opaque: break;
  }
  throw Undefined();
}

}  // namespace

Dim rebuild(DimTable& table, const DimAtom& a, std::vector<Dim> args) {
  switch (a.kind) {
    case AtomKind::symbol: return Dim::of(a.expr);
    case AtomKind::floor_div: return floor_div(args[0], args[1]);
    case AtomKind::trunc_div: return trunc_div(args[0], args[1]);
    case AtomKind::mod: return mod(args[0], args[1]);
    case AtomKind::min: return extremum(table, false, std::move(args));
    case AtomKind::max: return extremum(table, true, std::move(args));
    case AtomKind::broadcast: return broadcast_all(table, std::move(args));
    case AtomKind::opaque: break;
  }
  return opaque_in(table, a.name, args);
}

std::vector<Dim> symbols_of(Dim d) {
  std::vector<const DimAtom*> found;
  for_each_symbol(d, [&](const DimAtom* a) { found.push_back(a); });
  std::sort(found.begin(), found.end(), [](const DimAtom* a, const DimAtom* b) { return a->name < b->name; });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<Dim> out;
  for (const DimAtom* a : found) out.push_back(Dim::of(a->expr));
  return out;
}

Dim substitute(Dim d, std::span<const Substitution> map) {
  for (const Substitution& s : map) invariant(s.symbol.is_symbol(), "only symbols can be substituted");
  return d.is_literal() || map.empty() ? d : Substituter(*d.expr()->table, map).dim(d);
}

std::optional<int64_t> evaluate(Dim d, std::span<const Substitution> map) {
  try {
    return value_of(d, map);
  } catch (const Undefined&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace cameo::ir
