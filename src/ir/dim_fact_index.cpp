#include "ir/dim_fact_index.h"

#include <algorithm>

#include "ir/checked.h"
#include "ir/dim_poly.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

bool mentions(Dim d, Dim symbol) {
  const std::vector<Dim> symbols = symbols_of(d);
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

}  // namespace

Scaled scaled(const Poly& p) {
  Scaled s{p, content(p), p.constant};
  if (p.terms[0].coefficient < 0) s.factor = -s.factor;
  s.key.constant = 0;
  s.key = divide_exactly(std::move(s.key), s.factor);
  return s;
}

const FactIndex::Known* FactIndex::find(const Poly& key) const {
  if (known_.empty()) return nullptr;
  const auto interned = key.terms[0].monomial->factors[0].atom->expr->table->find(key);
  if (!interned) return nullptr;
  const auto found = known_.find(interned->expr());
  return found == known_.end() ? nullptr : &found->second;
}

FactIndex::Known& FactIndex::change(const DimExpr* key) {
  const auto found = known_.find(key);
  log_.push_back({key, found == known_.end() ? std::nullopt : std::optional(found->second)});
  simplified_.clear();
  return known_[key];
}

void FactIndex::rewind(size_t mark) {
  if (log_.size() > mark) {
    resolved_.clear();
    simplified_.clear();
  }
  while (log_.size() > mark) {
    Undo& undo = log_.back();
    const auto now = known_.find(undo.key);
    replacements_ -= now->second.replacement.has_value();
    if (undo.before) {
      replacements_ += undo.before->replacement.has_value();
      now->second = std::move(*undo.before);
    } else {
      known_.erase(now);
    }
    log_.pop_back();
  }
}

Dim FactIndex::resolve(Dim d) const {
  if (d.is_literal() || replacements_ == 0) return d;
  if (const auto past = resolved_.find(d.expr()); past != resolved_.end()) return past->second;
  Dim out = d;
  try {
    while (true) {
      std::vector<Substitution> map;
      for (const Dim s : symbols_of(out))
        if (const auto k = known_.find(s.expr()); k != known_.end() && k->second.replacement)
          map.push_back({s, *k->second.replacement});
      if (map.empty()) break;
      out = substitute(out, map);
    }
  } catch (const Error&) {
    // It has no value under these equalities (a division by zero, say): left as far as it got.
  }
  resolved_.emplace(d.expr(), out);
  return out;
}

Interval FactIndex::tighten(const Poly& p, Interval form) const {
  if (p.is_literal() || known_.empty()) return form;
  const Scaled s = scaled(p);
  const Known* const k = find(s.key);
  if (!k) return form;
  const Interval factor = Interval::point(s.factor), offset = Interval::point(s.offset);
  Interval i = intersect(form, factor * k->range + offset);
  const auto excluded = [&](int64_t end) {
    return std::any_of(k->excluded.begin(), k->excluded.end(),
                       [&](int64_t v) { return Interval::point(end) == factor * Interval::point(v) + offset; });
  };
  while (i.bounded_below() && i.lo < i.hi && excluded(i.lo)) ++i.lo;
  while (i.bounded_above() && i.lo < i.hi && excluded(i.hi)) --i.hi;
  return i;
}

Answer FactIndex::is_zero(const Poly& p) const {
  if (p.is_literal()) return p.constant == 0 ? Answer::yes : Answer::no;
  const Interval i = range(p);
  if (!i.contains(0) || is_excluded(p) || congruence(p).contradicts(Congruence::exactly(0))) return Answer::no;
  return i.is_point() ? Answer::yes : Answer::unknown;
}

bool FactIndex::is_excluded(const Poly& p) const {
  if (p.is_literal()) return p.constant != 0;
  const Scaled s = scaled(p);
  if (s.offset % s.factor != 0) return true;
  const Known* const k = find(s.key);
  const int64_t value = checked_neg(s.offset / s.factor);
  return k && std::find(k->excluded.begin(), k->excluded.end(), value) != k->excluded.end();
}

Congruence FactIndex::congruence(const DimAtom& a) const {
  Congruence c;
  const auto of = [&](Dim d) { return congruence(Poly(d)); };
  if (a.kind == AtomKind::floor_div && a.args[1].is_literal()) c = floor_div(of(a.args[0]), a.args[1].literal());
  if (a.kind == AtomKind::min || a.kind == AtomKind::max || a.kind == AtomKind::broadcast) {
    c = of(a.args[0]);
    for (const Dim d : a.args) c = join(c, of(d));
  }
  const auto k = known_.find(a.expr);
  return k == known_.end() || c.contradicts(k->second.congruence) ? c : meet(c, k->second.congruence);
}

Congruence FactIndex::congruence(const Poly& p) const {
  Congruence sum = Congruence::exactly(p.constant);
  for (const Term& t : p.terms) {
    Congruence product = Congruence::exactly(t.coefficient);
    for (const Factor& f : t.monomial->factors) {
      const Congruence c = congruence(*f.atom);
      for (uint32_t i = 0; i < f.power; ++i) product = product * c;
    }
    sum = sum + product;
  }
  if (p.is_literal()) return sum;
  const Scaled s = scaled(p);
  const Known* const k = find(s.key);
  if (!k || !k->congruence.informative()) return sum;
  const Congruence direct = Congruence::exactly(s.factor) * k->congruence + Congruence::exactly(s.offset);
  return sum.contradicts(direct) ? sum : meet(sum, direct);
}

bool FactIndex::replace(DimTable& table, const DimAtom& symbol, Dim value, int depth) {
  const Dim s = Dim::of(symbol.expr);
  std::vector<const DimExpr*> touched;
  for (const auto& [key, known] : known_)
    if (key != symbol.expr && !known.replacement && mentions(Dim::of(key), s)) touched.push_back(key);
  std::sort(touched.begin(), touched.end(),
            [](const DimExpr* a, const DimExpr* b) { return compare(Dim::of(a), Dim::of(b)) < 0; });
  const Interval range = this->range(single(&symbol));
  Known& changed = change(symbol.expr);
  const Known of_symbol = changed;  // what was known of the symbol now holds for its value
  changed.replacement = value;
  ++replacements_;
  resolved_.clear();
  const auto carry = [&](const Poly& p, const Known& k, Interval i) {
    if (!add_range(table, p, i, depth + 1) || !add_congruence(table, p, k.congruence, depth + 1)) return false;
    return std::all_of(k.excluded.begin(), k.excluded.end(),
                       [&](int64_t v) { return add_nonzero(table, add(p, Poly(v), -1)); });
  };
  if (!carry(Poly(value), of_symbol, range)) return false;
  for (const DimExpr* key : touched) {
    const Known k = known_[key];
    if (!carry(Poly(resolve(Dim::of(key))), k, k.range)) return false;
  }
  return true;
}

bool FactIndex::add_nonzero(DimTable& table, const Poly& p) {
  if (p.is_literal()) return p.constant != 0;
  const Scaled s = scaled(p);
  if (s.offset % s.factor != 0) return true;
  const int64_t value = checked_neg(s.offset / s.factor);
  if (const Known* const k = find(s.key); k && std::count(k->excluded.begin(), k->excluded.end(), value)) return true;
  const Interval i = range(p);
  if (i.is_point() && i.lo == 0) return false;
  change(table.intern(s.key).expr()).excluded.push_back(value);
  return true;
}

}  // namespace cameo::ir
