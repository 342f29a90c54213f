// Patterns: what a rule looks for, as an expression. A Var is its own name, so that a typo does not compile.
//
//   Var x;  Const a;
//   rule("relu-relu", relu(relu(x)), relu(x))
//   rule("gelu", x * (erf(x / std::sqrt(2.0)) + 1.0) * 0.5, [=](Rewrite& rw, const Match& m) { return rw.on.Gelu(m[x]);
//   })
//
// Operands of commutative operators match in either order, with backtracking. A number matches a constant all of whose
// elements are that number, within two ulp of the constant's type.
#pragma once

#include <initializer_list>
#include <memory>

#include "passes/rule.h"

namespace cameo::passes {

struct PatternNode;
class Pattern {
 public:
  Pattern(double literal);
  explicit Pattern(std::shared_ptr<const PatternNode> node) : node_(std::move(node)) {}
  const PatternNode* get() const { return node_.get(); }
  // The same, where the node's attributes please `ok`.
  template <class A, class F>
  Pattern where(F ok) const {
    return with_check([ok](const Graph& g, NodeId n) {
      const A* a = g[n].as<A>();
      return a && ok(*a);
    });
  }

 private:
  Pattern with_check(std::function<bool(const Graph&, NodeId)> check) const;
  std::shared_ptr<const PatternNode> node_;
};

struct Var : Pattern {
  Var();
};
struct Const : Pattern {  // a constant of any shape
  Const();
};

Pattern call(std::string_view name, std::initializer_list<Pattern> operands);  // exactly these operands
Pattern operator+(const Pattern& a, const Pattern& b);
Pattern operator-(const Pattern& a, const Pattern& b);
Pattern operator*(const Pattern& a, const Pattern& b);
Pattern operator/(const Pattern& a, const Pattern& b);
inline Pattern relu(const Pattern& x) { return call("Relu", {x}); }
inline Pattern sigmoid(const Pattern& x) { return call("Sigmoid", {x}); }
inline Pattern erf(const Pattern& x) { return call("Erf", {x}); }
inline Pattern tanh(const Pattern& x) { return call("Tanh", {x}); }
inline Pattern exp(const Pattern& x) { return call("Exp", {x}); }
inline Pattern sqrt(const Pattern& x) { return call("Sqrt", {x}); }
inline Pattern pow(const Pattern& x, const Pattern& y) { return call("Pow", {x, y}); }
inline Pattern reciprocal(const Pattern& x) { return call("Reciprocal", {x}); }

class Match {
 public:
  ValueId operator[](const Pattern& p) const;  // what a Var, Const or inner operator stands for
  NodeId node(const Graph& g, const Pattern& p) const { return g[(*this)[p]].def; }
  std::vector<std::pair<const PatternNode*, ValueId>> bindings;
};

std::optional<Match> match(const Rewrite& rw, const Pattern& p);  // at its root
// Of several forms of the same thing, the first that matches.
using Replacement = std::function<ValueId(Rewrite&, const Match&)>;  // none: the rule does not apply after all
Rule rule(std::string name, std::vector<Pattern> forms, Replacement replacement);
Rule rule(std::string name, Pattern form, Replacement replacement);
Rule rule(std::string name, Pattern form, Pattern replacement);

}  // namespace cameo::passes
