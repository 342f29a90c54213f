#include "passes/pattern.h"

#include <algorithm>
#include <cmath>

#include "support/error.h"

namespace cameo::passes {

struct PatternNode {
  enum class Kind : uint8_t { var, constant, literal, op } kind;
  double literal = 0;
  std::string_view op;
  std::vector<Pattern> operands;
  bool commutative = false;
  std::function<bool(const Graph&, NodeId)> check;
};

namespace {

using Kind = PatternNode::Kind;

Pattern make(PatternNode n) { return Pattern(std::make_shared<const PatternNode>(std::move(n))); }

double two_ulp(DType t, double v) {
  const double relative = t == DType::f64 ? 0x1p-51 : t == DType::f16 ? 0x1p-9 : t == DType::bf16 ? 0x1p-6 : 0x1p-22;
  return std::abs(v) * relative;
}

bool is_number(const Rewrite& rw, ValueId v, double wanted) {
  constexpr uint64_t most = 4096;
  const auto t = rw.constant(v, most);
  if (!t || t->count() == 0 || t->dtype() == DType::string || is_complex(t->dtype())) return false;
  const double slack = is_float(t->dtype()) ? two_ulp(t->dtype(), wanted) : 0;
  for (int64_t i = 0; i < t->count(); ++i)
    if (!(std::abs(t->double_at(i) - wanted) <= slack)) return false;
  return true;
}

struct Goal {
  const PatternNode* pattern;
  ValueId value;
};

class Solver {
 public:
  explicit Solver(const Rewrite& rw) : rw_(rw), g_(rw.g) {}
  Match match;

  bool solve(std::vector<Goal> goals) {
    while (!goals.empty()) {
      const Goal goal = goals.back();
      goals.pop_back();
      const PatternNode& p = *goal.pattern;
      if (!goal.value) return false;
      if (p.kind == Kind::literal) {
        if (!is_number(rw_, goal.value, p.literal)) return false;
        continue;
      }
      if (const auto known = bound(&p)) {
        if (*known != goal.value) return false;
        continue;
      }
      if (p.kind == Kind::constant && !rw_.is_constant(goal.value)) return false;
      match.bindings.emplace_back(&p, goal.value);
      if (p.kind != Kind::op) continue;
      const NodeId n = g_[goal.value].def;
      if (!rw_.understood(n) || !g_[n].is(p.op) || g_[n].outputs[0] != goal.value) return false;
      if (g_[n].inputs.size() != p.operands.size() || (p.check && !p.check(g_, n))) return false;
      if (!p.commutative) {
        push(goals, p, n, false);
        continue;
      }
      const size_t mark = match.bindings.size();
      auto straight = goals;
      push(straight, p, n, false);
      if (solve(std::move(straight))) return true;
      match.bindings.resize(mark);
      push(goals, p, n, true);
    }
    return true;
  }

 private:
  std::optional<ValueId> bound(const PatternNode* p) const {
    for (const auto& [known, v] : match.bindings)
      if (known == p) return v;
    return std::nullopt;
  }
  void push(std::vector<Goal>& goals, const PatternNode& p, NodeId n, bool swapped) const {
    const auto& in = g_[n].inputs;
    for (size_t i = p.operands.size(); i-- > 0;)
      goals.push_back({p.operands[i].get(), in[swapped && i < 2 ? 1 - i : i]});
  }
  const Rewrite& rw_;
  const Graph& g_;
};

}  // namespace

Pattern::Pattern(double literal)
    : Pattern(make(
          {.kind = Kind::literal, .literal = literal, .op = {}, .operands = {}, .commutative = false, .check = {}})) {}
Var::Var()
    : Pattern(make({.kind = Kind::var, .literal = 0, .op = {}, .operands = {}, .commutative = false, .check = {}})) {}
Const::Const()
    : Pattern(
          make({.kind = Kind::constant, .literal = 0, .op = {}, .operands = {}, .commutative = false, .check = {}})) {}

Pattern Pattern::with_check(std::function<bool(const Graph&, NodeId)> check) const {
  PatternNode n = *node_;
  n.check = std::move(check);
  return make(std::move(n));
}

Pattern call(std::string_view name, std::initializer_list<Pattern> operands) {
  const OpDef* def = find_op("", name);
  invariant(def, "a pattern's operator exists");
  return make({.kind = Kind::op,
               .literal = 0,
               .op = name,
               .operands = operands,
               .commutative = def->rules.commutative && operands.size() == 2,
               .check = {}});
}
Pattern operator+(const Pattern& a, const Pattern& b) { return call("Add", {a, b}); }
Pattern operator-(const Pattern& a, const Pattern& b) { return call("Sub", {a, b}); }
Pattern operator*(const Pattern& a, const Pattern& b) { return call("Mul", {a, b}); }
Pattern operator/(const Pattern& a, const Pattern& b) { return call("Div", {a, b}); }

ValueId Match::operator[](const Pattern& p) const {
  for (const auto& [known, v] : bindings)
    if (known == p.get()) return v;
  invariant(false, "a replacement asks for what its pattern has");
  return {};
}

std::optional<Match> match(const Rewrite& rw, const Pattern& p) {
  Solver s(rw);
  if (!s.solve({{p.get(), rw.out()}})) return std::nullopt;
  return std::move(s.match);
}

Rule rule(std::string name, std::vector<Pattern> forms, Replacement replacement) {
  std::vector<std::string_view> roots;
  for (const Pattern& f : forms)
    if (std::find(roots.begin(), roots.end(), f.get()->op) == roots.end()) roots.push_back(f.get()->op);
  return rule(std::move(name), std::move(roots), [forms, replacement](Rewrite& rw) {
    for (const Pattern& f : forms) {
      if (!rw.root().is(f.get()->op)) continue;
      const auto m = match(rw, f);
      if (!m) continue;
      if (const ValueId v = replacement(rw, *m)) return rw.replace(v);
    }
  });
}

Rule rule(std::string name, Pattern form, Replacement replacement) {
  return rule(std::move(name), std::vector<Pattern>{std::move(form)}, std::move(replacement));
}

namespace {
ValueId build(Rewrite& rw, const Match& m, const PatternNode* p) {
  for (const auto& [known, v] : m.bindings)
    if (known == p && p->kind != Kind::op) return v;
  invariant(p->kind == Kind::op, "a replacement is made of what the pattern has");
  std::vector<ValueId> operands;
  for (const Pattern& o : p->operands) operands.push_back(build(rw, m, o.get()));
  return rw.on.emit(*find_op("", p->op), nullptr, std::move(operands), 1)[0];
}
}  // namespace

Rule rule(std::string name, Pattern form, Pattern replacement) {
  return rule(std::move(name), std::move(form),
              Replacement([replacement](Rewrite& rw, const Match& m) { return build(rw, m, replacement.get()); }));
}

}  // namespace cameo::passes
