#include "ops/soundness.h"

#include <algorithm>

#include "ops/infer.h"
#include "support/progress.h"

namespace cameo::ops {

bool rule_runs(const Graph& g, NodeId id) {
  const Node& n = g[id];
  if (n.op->is_opaque()) return false;
  if (def(*n.op).rules.partial) return true;
  return std::none_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) {
    return v && (g[v].fact.type.is_unknown() || (g[v].fact.type.is_tensor() && !g[v].fact.type.has_rank()));
  });
}

bool has_operands(const Node& n) {
  if (n.op->is_opaque()) return true;
  const SchemaVersion& schema = def(*n.op).newest();
  for (size_t i = 0; i < schema.min_in; ++i)
    if (schema.input(i)->option != Formal::optional && (i >= n.inputs.size() || !n.inputs[i])) return false;
  return true;
}

bool is_unjudged(const Graph& g, NodeId n) {
  const auto& outputs = g[n].outputs;
  return !g[n].op->is_opaque() && !rule_runs(g, n) &&
         std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return g[v].fact.has_rank(); });
}

std::optional<Diag> fault_of(Graph& g, NodeId n) {
  std::vector<Fact> facts;
  for (const ValueId v : g[n].outputs) facts.push_back(g[v].fact);
  std::optional<Diag> fault;
  const size_t dims = g.facts.mark();
  try {
    infer_node(g, n, {.fold = false});
  } catch (const Error& e) {
    if (ends_work(e)) throw;
    fault = e.diag();
  }
  for (size_t i = 0; i < facts.size(); ++i) g.fact(g[n].outputs[i]) = std::move(facts[i]);
  g.facts.rewind(dims);  // it may stand in a branch that is never taken
  return fault;
}

namespace {

// What is merely not computed, or declared otherwise, is no fault.
bool is_fault(const Diag& d) { return d.code != "infer.declared" && !d.code.starts_with("eval."); }

// Inference does not tell what is wrong in a branch that is never taken.
bool has_decided_branch(const Graph& g) {
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const NodeId n(i);
    if (g[n].dead || !g[n].is("If") || g[n].inputs.empty() || !g[n].inputs[0]) continue;
    if (g.is_constant(g[n].inputs[0]) || g[g[n].inputs[0]].fact.tensor()) return true;
  }
  return false;
}

class Judge {
 public:
  // `one_by_one`: nodes are asked again, since some are at fault, or were not asked yet.
  Judge(Graph& g, bool one_by_one, Soundness& s) : g_(g), one_by_one_(one_by_one), s_(s) {
    s_.aside.resize(g.node_capacity());
  }

  // Whether a node in it, or in the bodies of its nodes, is at fault.
  bool region(RegionId r, bool always) {
    bool found = false;
    for (const NodeId n : g_.nodes(r)) {
      bool inside = false;
      for (const RegionId body : g_[n].regions) inside |= body && region(body, false);
      found |= inside | node(n, always, inside);
    }
    return found;
  }

 private:
  // A fault in a body is that of the node there, not of its owner.
  bool node(NodeId n, bool always, bool fault_inside) {
    s_.aside[n.index] = is_unjudged(g_, n);
    if (!one_by_one_ || fault_inside || g_[n].op->is_opaque()) return false;
    auto fault = fault_of(g_, n);
    if (!fault || !is_fault(*fault)) return false;
    s_.aside[n.index] = true;
    s_.faults.emplace(n, Fault{std::move(*fault), always});
    return true;
  }

  Graph& g_;
  bool one_by_one_;
  Soundness& s_;
};

}  // namespace

bool Standing::is_aside(Graph& g, NodeId n) {
  if (!judged_ && !has_operands(g[n])) return true;
  if (n.index < asked_before_.size() && asked_before_[n.index]) {
    asked_before_[n.index] = false;
    const auto fault = rule_runs(g, n) ? fault_of(g, n) : std::nullopt;
    if (fault && is_fault(*fault)) {
      aside_.resize(std::max<size_t>(aside_.size(), g.node_capacity()));
      aside_[n.index] = true;
    }
  }
  return n.index < aside_.size() && aside_[n.index];
}

void Standing::judge_new(Graph& g, uint32_t first_node) {
  aside_.resize(g.node_capacity());
  for (uint32_t i = first_node; i < g.node_capacity(); ++i)
    if (const NodeId n(i); !g[n].dead) aside_[i] = is_unjudged(g, n) || (any_fault_ && fault_of(g, n));
}

void Standing::ask_again(NodeId n) {
  if (asked_before_.size() <= n.index) asked_before_.resize(n.index + 1);
  asked_before_[n.index] = true;
}

Soundness judge(Model& m) {
  Soundness s;
  InferResult inferred = infer(m.graph, m.functions);
  const bool any_fault =
      std::any_of(inferred.findings.begin(), inferred.findings.end(), is_fault) || has_decided_branch(m.graph);
  for (Diag& d : inferred.findings)
    if (d.code == "infer.declared") s.contradicted.push_back(std::move(d));
  Judge(m.graph, any_fault, s).region(m.graph.main(), true);
  // Inference looks at copies of functions, and only of those that are called.
  for (const LocalFunction& f : m.functions) Judge(m.graph, true, s).region(f.body, false);
  return s;
}

void refuse_certain(const Model& m, const Soundness& s) {
  std::vector<Diag> all;
  for (const auto& [node, fault] : s.faults) {
    if (!fault.certain) continue;
    Diag& d = all.emplace_back(fault.diag);
    if (d.where.file.empty()) d.where.file = m.path;
  }
  if (all.empty()) return;
  if (all.back().hint.empty())
    all.back().hint = cat("nothing was rewritten; cameo check ", m.path.empty() ? "MODEL" : m.path,
                          " lists everything that is wrong");
  throw Error(std::move(all));
}

std::vector<Diag> warnings_of(const Model& m, const Soundness& s) {
  if (s.contradicted.empty()) return {};
  Diag d = s.contradicted.front();
  d.severity = Severity::warning;
  if (d.where.file.empty()) d.where.file = m.path;
  if (s.contradicted.size() > 1)
    d.because = cat(s.contradicted.size(), " declared types are not what the nodes compute; this is the first");
  return {std::move(d)};
}

std::vector<Diag> admit(Model& m) {
  const Soundness s = judge(m);
  refuse_certain(m, s);
  return warnings_of(m, s);
}

}  // namespace cameo::ops
