// Branches after which a model cannot run are not taken. A size that is squeezed away where it is 1, and kept where
// not, makes one value of two ranks; most often the next nodes can work with only one of them.
#include <algorithm>

#include "ir/clone.h"
#include "ops/infer.h"
#include "passes/simplify.h"
#include "support/budget.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

constexpr size_t most_tried = 32;  // each takes a copy of the graph

std::vector<std::string> rules_on_trial() { return {"if-decided", "fold", "constant-to-weight"}; }

bool differ_in_rank(const Graph& g, NodeId n) {
  if (!g[n].regions[0] || !g[n].regions[1]) return false;
  const auto &a = g[g[n].regions[0]].outputs, &b = g[g[n].regions[1]].outputs;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (g[a[i]].fact.has_rank() && g[b[i]].fact.has_rank() && g[a[i]].fact.rank() != g[b[i]].fact.rank()) return true;
  return false;
}

// Whether the nodes beside `n` work when it takes this branch. What lies in other bodies may never run, and is not
// asked.
bool works(const Model& m, NodeId n, bool taken) {
  Model trial = m;
  Graph& g = trial.graph;
  const RegionId home = g[n].home;
  g.set_input(n, 0, g.add_constant(Tensor::bool_scalar(taken), "", g.main()));
  SimplifyOptions how;
  how.only = rules_on_trial();
  how.try_branches = false;
  try {
    simplify(trial, how);
    for (const NodeId node : g.nodes(home)) infer_node(g, node);
  } catch (const Error& e) {
    if (is_budget(e)) throw;
    return false;
  }
  return true;
}

}  // namespace

size_t decide_by_trial(Model& m, Rewriter& e) {
  Graph& g = m.graph;
  size_t decided = 0, tried = 0;
  for (uint32_t i = 0; i < g.node_capacity() && tried < most_tried; ++i) {
    const NodeId n(i);
    if (g[n].dead || !g[n].is("If") || g[n].extra || g[n].regions.size() != 2 || !g.input(n, 0) ||
        g.is_constant(g[n].inputs[0]))
      continue;
    RegionId outer = g[n].home;
    while (g[outer].parent) outer = g[outer].parent;
    if (outer != g.main() || !differ_in_rank(g, n) || !e.may_apply("if-impossible", g[n].outputs[0])) continue;
    ++tried;
    const bool then_works = works(m, n, true);
    if (works(m, n, false) == then_works) continue;
    g.set_input(n, 0, g.add_constant(Tensor::bool_scalar(then_works), "", g.main()));
    e.record("if-impossible", RuleClass::exact, value_label(g, g[n].outputs[0]), 0, 0);
    ++decided;
    break;  // the others may be decided by now
  }
  return decided;
}

}  // namespace cameo::passes
