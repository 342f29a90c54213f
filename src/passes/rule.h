// Rewrite rules as values. A rule looks at one node, says what stands for its outputs, and nothing else: types, uses,
// outputs, names, file size and undoing are handled by the rewriter (rewriter.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/on.h"
#include "ops/soundness.h"

namespace cameo::passes {

struct EngineTarget;  // engine_set.h

enum class RuleClass : uint8_t {
  exact,     // moves or drops data: every bit stays
  algebra,   // the same real-valued function; may round otherwise, but no worse
  rounding,  // a fused operator, or folded weights: the same function, rounded otherwise
};
std::string_view name(RuleClass c);

// Emits what a rule makes. Constants go to the outermost region around the node: the main graph, or a function's body.
class RuleOn : public On {
 public:
  RuleOn(Graph& g, RegionId region, NodeId before);
  ValueId constant(const Tensor& t) override;
  ValueId weight(Weight w, std::string name = "");

 private:
  RegionId outermost_;
};

// Whether rules may look at the node: Cameo knows the operator and all its attributes, and it is not set aside.
inline bool is_understood(Graph& g, NodeId n, Standing* standing) {
  return n && !g[n].op->is_opaque() && !g[n].extra && !(standing && standing->is_aside(g, n));
}

// What a rule sees of the node it looks at, and how it answers. Emission is undone unless the rewriter accepts the
// answer.
class Rewrite {
 public:
  Rewrite(Graph& graph, NodeId node, int64_t target, bool keep_reasons);

  Graph& g;
  const NodeId node;
  const int64_t opset;  // what the result is written for: the target's version of ai.onnx
  RuleOn on;            // emits before the node

  // The node.
  const Node& root() const { return g[node]; }
  template <class A>
  const A& attrs() const {
    return *g[node].as<A>();
  }
  ValueId in(size_t i) const { return g.input(node, i); }
  bool has(size_t i) const { return in(i).valid(); }
  size_t in_count() const { return g[node].inputs.size(); }
  ValueId out(size_t i = 0) const { return g[node].outputs[i]; }
  bool wants(size_t output) const { return output < g[node].outputs.size() && g.used(out(output)); }

  // Values.
  const Fact& fact(ValueId v) const { return g[v].fact; }
  DType dtype(ValueId v) const { return g[v].fact.dtype(); }
  bool has_rank(ValueId v) const { return v && g[v].fact.has_rank(); }
  int64_t rank(ValueId v) const { return g[v].fact.rank(); }         // precondition: has_rank(v)
  const Shape& shape(ValueId v) const { return g[v].fact.shape(); }  // precondition: has_rank(v)
  bool equal(Dim a, Dim b) const { return a == b || g.facts.equal(a, b) == Answer::yes; }
  bool same_shape(const Shape& a, const Shape& b) const;
  bool understood(NodeId n) const { return is_understood(g, n, standing); }
  // The struct of the operator that makes `v`; null when another one does, or when that is not understood.
  template <class A>
  const A* made_by(ValueId v) const {
    const NodeId n = v ? g[v].def : NodeId();
    return understood(n) ? g[n].as<A>() : nullptr;
  }
  NodeId maker(ValueId v) const { return g[v].def; }
  ValueId operand(ValueId v, size_t i) const { return g.input(g[v].def, i); }  // of the node that makes v
  bool single_use(ValueId v) const { return g[v].uses.size() == 1; }

  // Contents that can never differ at run time.
  bool is_constant(ValueId v) const;
  std::optional<Tensor> constant(ValueId v, uint64_t budget_bytes = 1 << 20) const;
  Tensor content(ValueId v) const;  // however large. Precondition: is_constant(v)
  std::optional<std::vector<int64_t>> ints(ValueId v) const;
  std::optional<double> scalar(ValueId v) const;  // every element is this number
  // Axes given as input `i` of a node, normalised and sorted; none when absent or not constant.
  std::optional<std::vector<int64_t>> axes(NodeId n, size_t i, int64_t rank) const;
  const Weight* weight(ValueId v) const;  // an initializer's recipe

  // The answer.
  void replace(ValueId v) { replacement = {v}; }
  void replace(std::vector<ValueId> values) { replacement = std::move(values); }
  // The rule proved that shapes agree where the facts cannot.
  void shape_is_kept() { trusted_shape = true; }
  void no(std::string_view why);  // why a near match is none

  std::vector<ValueId> replacement;  // per output; none for an unused output
  bool trusted_shape = false;
  std::string why;
  int64_t spare_bytes = 0;               // by how much constants may grow here
  int64_t unroll = 0;                    // rounds up to which loops may be unrolled
  bool every_bit = false;                // nothing may be computed that an engine might round otherwise
  const EngineTarget* engine = nullptr;  // whom it is for; null: a file
  bool real_sizes = false;               // those of a run: what inference knows is as good as a constant
  uint32_t first_made = 0;               // nodes from here on were made by rules
  Standing* standing = nullptr;          // which nodes are not to be looked at (ops/soundness.h)
  std::vector<bool>* varying =
      nullptr;  // by node: found to depend on more than constants; for rules that ask this of every node

 private:
  bool keep_reasons_;
};

struct Rule {
  std::string name;
  std::vector<std::string_view> roots;  // names of the operators it looks at; empty: all
  RuleClass exactness = RuleClass::exact;
  std::function<void(Rewrite&)> apply;
  std::vector<std::string_view> makes;  // operators that the target must have
  int64_t gain = 1;         // how many nodes fewer there must be; 0: a node may be traded for a node; below: more nodes
  bool late = false;        // would hide forms that other rules look for: runs when those are done
  bool free_bytes = false;  // constants may grow by what was saved elsewhere (folding)

  Rule& algebra() { return exactness = RuleClass::algebra, *this; }
  Rule& rounding() { return exactness = RuleClass::rounding, *this; }
  Rule& making(std::vector<std::string_view> ops) { return makes = std::move(ops), *this; }
  Rule& trading() { return gain = 0, *this; }
  Rule& growing() { return gain = INT64_MIN, *this; }
  Rule& last() { return late = true, *this; }
};

// A row: rule("transpose-transpose", {"Transpose"}, [](Rewrite& rw) { ... })
inline Rule rule(std::string name, std::vector<std::string_view> roots, std::function<void(Rewrite&)> apply) {
  Rule r;
  r.name = std::move(name);
  r.roots = std::move(roots);
  r.apply = std::move(apply);
  return r;
}

const std::vector<Rule>& all_rules();  // rules/tables.cpp

}  // namespace cameo::passes
