// What is known inside a branch because of its condition.
#include <algorithm>

#include "staging/machine/machine.h"

namespace cameo::staging {

const Conditions::Condition* Conditions::of(const Value& condition) const {
  const auto* staged = condition.as<StagedBool>();
  return staged ? said_.find(staged->value.id.index) : nullptr;
}

void Conditions::assume(const Value& condition, bool truth, int depth) {
  if (const auto* staged = condition.as<StagedBool>()) assumed_.push({staged->value, truth});
  const Condition* known = of(condition);
  if (!known || depth > 16) return;
  const Condition c = *known;
  const auto part = [&](V v, bool t) { assume(Value(StagedBool{v}), t, depth + 1); };
  if (c.op == "not") return part(c.x, !truth);
  if (c.op == "and" || c.op == "or") {
    if (truth != (c.op == "and")) return;
    part(c.x, truth);
    return part(c.y, truth);
  }
  const FactOrigin origin{FactSource::program, "a condition of the program", s_.here()};
  DimFacts& facts = s_.graph.facts;
  const bool equal = c.op == "eq" ? truth : c.op == "ne" ? !truth : false;
  if (c.op == "eq" || c.op == "ne") {
    if (equal) facts.assume_equal(c.a, c.b, origin);
    else facts.assume_not_equal(c.a, c.b, origin);
    return;
  }
  // As a < b or a <= b.
  Dim a = c.a, b = c.b;
  bool strict = c.op == "lt" || c.op == "gt";
  if (c.op == "gt" || c.op == "ge") std::swap(a, b);
  if (!truth) {
    std::swap(a, b);
    strict = !strict;
  }
  facts.assume_range(b - a, strict ? 1 : 0, std::nullopt, origin);
}

bool Conditions::same(V a, V b, int depth) const {
  if (a.id == b.id) return true;
  const Condition *c = said_.find(a.id.index), *d = said_.find(b.id.index);
  if (!c || !d || c->op != d->op || depth > 16) return false;
  if (!c->x.valid()) return c->a == d->a && c->b == d->b;
  return same(c->x, d->x, depth + 1) && (c->y.valid() == d->y.valid()) &&
         (!c->y.valid() || same(c->y, d->y, depth + 1));
}

bool Conditions::hold(const Value& condition) const {
  const auto* staged = condition.as<StagedBool>();
  const auto& all = assumed_.all();
  return staged &&
         std::any_of(all.begin(), all.end(), [&](const auto& a) { return a.second && same(a.first, staged->value); });
}

std::optional<Conditions::Special> Conditions::special_size(const Value& condition) const {
  const Condition* known = of(condition);
  if (!known) return std::nullopt;
  const Condition& c = *known;
  if (c.op == "not") {
    auto inner = special_size(Value(StagedBool{c.x}));
    if (inner) inner->otherwise = !inner->otherwise;
    return inner;
  }
  if (c.x.valid() || c.a.is_literal() || !c.b.is_literal()) return std::nullopt;
  if (c.op == "eq" || c.op == "ne") return Special{c.a, c.b.literal(), c.op == "ne"};
  // Counts are never negative.
  struct Row {
    std::string_view op;
    int64_t with;
    bool otherwise;
  };
  static constexpr Row rows[] = {{"gt", 0, true}, {"ge", 1, true}, {"le", 0, false}, {"lt", 1, false}};
  for (const Row& row : rows)
    if (c.op == row.op && c.b.is(row.with)) return Special{c.a, 0, row.otherwise};
  return std::nullopt;
}

}  // namespace cameo::staging
