// What is known inside a branch because of its condition.
#include "staging/joins/truth.h"

namespace cameo::staging {

void Stager::assume(const Value& condition, bool truth, int depth) {
  const auto* staged = condition.as<StagedBool>();
  if (staged) assumed_.emplace_back(staged->value, truth);
  const auto it = staged ? conditions_.find(staged->value.id.index) : conditions_.end();
  if (it == conditions_.end() || depth > 16) return;
  const Condition c = it->second;
  const auto part = [&](V v, bool t) { assume(Value(StagedBool{v}), t, depth + 1); };
  if (c.op == "not") return part(c.x, !truth);
  if (c.op == "and" || c.op == "or") {
    if (truth != (c.op == "and")) return;
    part(c.x, truth);
    return part(c.y, truth);
  }
  const FactOrigin origin{FactSource::program, "a condition of the program", here()};
  const bool equal = c.op == "eq" ? truth : c.op == "ne" ? !truth : false;
  if (c.op == "eq" || c.op == "ne") {
    if (equal) graph.facts.assume_equal(c.a, c.b, origin);
    else graph.facts.assume_not_equal(c.a, c.b, origin);
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
  graph.facts.assume_range(b - a, strict ? 1 : 0, std::nullopt, origin);
}

bool Stager::same_condition(V a, V b, int depth) const {
  if (a.id == b.id) return true;
  const auto x = conditions_.find(a.id.index), y = conditions_.find(b.id.index);
  if (x == conditions_.end() || y == conditions_.end() || x->second.op != y->second.op || depth > 16) return false;
  const Condition &c = x->second, &d = y->second;
  if (!c.x.valid()) return c.a == d.a && c.b == d.b;
  return same_condition(c.x, d.x, depth + 1) && (c.y.valid() == d.y.valid()) &&
         (!c.y.valid() || same_condition(c.y, d.y, depth + 1));
}

bool Stager::holds(const Value& condition) const {
  const auto* staged = condition.as<StagedBool>();
  return staged && std::any_of(assumed_.begin(), assumed_.end(),
                               [&](const auto& a) { return a.second && same_condition(a.first, staged->value); });
}

std::optional<Stager::Special> Stager::special_size(const Value& condition) const {
  const auto* staged = condition.as<StagedBool>();
  const auto it = staged ? conditions_.find(staged->value.id.index) : conditions_.end();
  if (it == conditions_.end()) return std::nullopt;
  const Condition& c = it->second;
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
