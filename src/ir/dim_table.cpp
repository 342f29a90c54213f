#include "ir/dim_table.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::ir {
namespace {

size_t hash_text(std::string_view s) {
  size_t h = s.size();
  for (const char c : s) h = mix_hash(h, static_cast<unsigned char>(c));
  return h;
}

size_t hash_atom(const DimAtom& a) {
  size_t h = mix_hash(hash_text(a.name), static_cast<size_t>(a.kind));
  for (const Dim d : a.args) h = mix_hash(h, d.hash());
  return h;
}

size_t hash_poly(const Poly& p) {
  size_t h = std::hash<int64_t>()(p.constant);
  for (const Term& t : p.terms) h = mix_hash(mix_hash(h, t.monomial->hash), static_cast<size_t>(t.coefficient));
  return h;
}

uint32_t weight_of(Dim d) { return d.is_literal() ? 1 : d.expr()->weight; }
uint32_t depth_of(Dim d) { return d.is_literal() ? 0 : d.expr()->depth; }

uint64_t weight_of(const Poly& p) {
  uint64_t w = 0;
  for (const Term& t : p.terms) {
    ++w;
    for (const Factor& f : t.monomial->factors) w += f.atom->weight;
  }
  return w;
}

}  // namespace

DimTable* common_table(Dim a, Dim b) {
  DimTable* const ta = a.is_literal() ? nullptr : a.expr()->table;
  DimTable* const tb = b.is_literal() ? nullptr : b.expr()->table;
  invariant(!ta || !tb || ta == tb, "dims of two contexts are mixed");
  return ta ? ta : tb;
}

const DimAtom* DimTable::add_atom(DimAtom a) {
  a.hash = hash_atom(a);
  a.mentions_fresh = a.fresh;
  uint64_t weight = 1;
  for (const Dim d : a.args) {
    weight += weight_of(d);
    a.depth = std::max(a.depth, depth_of(d) + 1);
    a.mentions_fresh = a.mentions_fresh || mentions_fresh(d);
  }
  a.weight = static_cast<uint32_t>(std::min<uint64_t>(weight, UINT32_MAX));
  DimAtom& kept = atoms_.emplace_back(std::move(a));
  Poly p;
  p.terms.push_back({monomial({{&kept, 1}}), 1});
  kept.expr = intern(std::move(p)).expr();
  return &kept;
}

Dim DimTable::symbol(std::string_view name, SymbolKind kind) {
  if (const auto found = symbols_.find(name); found != symbols_.end()) return Dim::of(found->second->expr);
  DimAtom a;
  a.name = name;
  a.symbol_kind = kind;
  if (kind == SymbolKind::size) a.interval = Interval::at_least(0);
  const DimAtom* const made = add_atom(std::move(a));
  symbols_.emplace(name, made);
  return Dim::of(made->expr);
}

Dim DimTable::fresh(std::string_view hint, SymbolKind kind, Interval interval) {
  std::string stem = cat("_", hint.substr(0, 64));
  for (char& c : stem)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9')) c = '_';
  uint64_t& count = fresh_count_[stem];
  // A digit at the end of the hint must not run into the counter: "_x1" + "2" and "_x" + "12" would be one name.
  const std::string_view gap = stem.back() >= '0' && stem.back() <= '9' ? "_" : "";
  std::string name;
  do name = cat(stem, gap, count++);
  while (has_symbol(name));
  DimAtom a;
  a.name = name;
  a.symbol_kind = kind;
  a.fresh = true;
  a.interval = kind == SymbolKind::size ? intersect(interval, Interval::at_least(0)) : interval;
  const DimAtom* const made = add_atom(std::move(a));
  symbols_.emplace(std::move(name), made);
  return Dim::of(made->expr);
}

const Monomial* DimTable::monomial(std::vector<Factor> factors) {
  Monomial m;
  m.factors = std::move(factors);
  m.interval = Interval::point(1);
  for (const Factor& f : m.factors) m.hash = mix_hash(mix_hash(m.hash, f.atom->hash), f.power);
  if (const auto found = monomial_set_.find(m); found != monomial_set_.end()) return *found;
  for (const Factor& f : m.factors) {
    m.degree += f.power;
    m.interval = m.interval * power(f.atom->interval, f.power);
  }
  const Monomial* const kept = &monomials_.emplace_back(std::move(m));
  monomial_set_.insert(kept);
  return kept;
}

const DimAtom* DimTable::atom(AtomKind kind, std::string_view name, std::vector<Dim> args, Interval interval) {
  DimAtom a;
  a.kind = kind;
  a.name = name;
  a.args = std::move(args);
  a.hash = hash_atom(a);
  if (const auto found = compound_.find(a); found != compound_.end()) return *found;
  a.interval = interval;
  const DimAtom* const made = add_atom(std::move(a));
  compound_.insert(made);
  return made;
}

bool DimTable::fits(const Poly& p) {
  if (p.terms.size() > max_terms || weight_of(p) > max_weight) return false;
  for (const Term& t : p.terms)
    if (t.monomial->degree > max_degree) return false;
  return true;
}

bool DimTable::atom_fits(std::span<const Dim> args) {
  uint64_t weight = 1;
  for (const Dim d : args) {
    weight += weight_of(d);
    if (depth_of(d) >= max_depth) return false;
  }
  return args.size() <= max_terms && weight < max_weight;
}

Dim DimTable::intern(Poly p) {
  if (p.is_literal()) return p.constant;
  DimExpr e;
  e.poly = std::move(p);
  e.hash = hash_poly(e.poly);
  if (const auto found = expr_set_.find(e); found != expr_set_.end()) return Dim::of(*found);
  e.table = this;
  e.weight = static_cast<uint32_t>(weight_of(e.poly));
  e.interval = interval_of(e.poly);
  for (const Term& t : e.poly.terms)
    for (const Factor& f : t.monomial->factors) {
      e.depth = std::max(e.depth, f.atom->depth);
      e.mentions_fresh = e.mentions_fresh || f.atom->mentions_fresh;
    }
  const DimExpr* const kept = &exprs_.emplace_back(std::move(e));
  expr_set_.insert(kept);
  return Dim::of(kept);
}

std::optional<Dim> DimTable::find(const Poly& p) const {
  if (p.is_literal()) return Dim(p.constant);
  DimExpr e;
  e.poly = p;
  e.hash = hash_poly(p);
  const auto found = expr_set_.find(e);
  return found == expr_set_.end() ? std::nullopt : std::optional(Dim::of(*found));
}

bool DimTable::StandIn::operator<(const StandIn& o) const {
  if (op != o.op) return op < o.op;
  if (name != o.name) return name < o.name;
  return std::lexicographical_compare(args.begin(), args.end(), o.args.begin(), o.args.end(),
                                      [](Dim a, Dim b) { return compare(a, b) < 0; });
}

Dim DimTable::stand_in(DimOp op, std::vector<Dim> args, std::string_view name, Interval interval) {
  StandIn key{op, std::string(name), std::move(args)};
  if (const auto found = stand_ins_.find(key); found != stand_ins_.end()) return found->second;
  const Dim made = fresh("big", interval.lo >= 0 ? SymbolKind::size : SymbolKind::number, interval);
  const auto kept = stand_ins_.emplace(std::move(key), made).first;
  stood_for_.emplace(made.expr(), &kept->first);
  return made;
}

const DimTable::StandIn* DimTable::stood_for(Dim d) const {
  const auto found = d.is_literal() ? stood_for_.end() : stood_for_.find(d.expr());
  return found == stood_for_.end() ? nullptr : found->second;
}

DimTable::Past& DimTable::slot(DimOp op, Dim a, Dim b) const {
  constexpr size_t slots = 1024;
  if (past_.empty()) past_.resize(slots);
  return past_[mix_hash(mix_hash(a.hash(), b.hash()), static_cast<size_t>(op)) % slots];
}

std::optional<Dim> DimTable::remembered(DimOp op, Dim a, Dim b) const {
  const Past& p = slot(op, a, b);
  // A slot that was never used holds two literals, which are never asked for.
  return p.op == op && p.a == a && p.b == b ? std::optional(p.result) : std::nullopt;
}

Dim DimTable::remember(DimOp op, Dim a, Dim b, Dim result) {
  slot(op, a, b) = {op, a, b, result};
  return result;
}

}  // namespace cameo::ir
