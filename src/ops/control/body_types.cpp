#include "ops/control/body_types.h"

#include <algorithm>

#include "support/budget.h"

namespace cameo::ops {

namespace {

// Trials multiply with the nesting: from this depth on nothing is tried, all carried sizes are taken to change.
constexpr int tried_depth = 4;
constexpr int max_trials = 4;

bool contains(const std::vector<Dim>& list, Dim d) { return std::find(list.begin(), list.end(), d) != list.end(); }

class Widening {
 public:
  Widening(Infer& c, std::vector<Dim>& widened) : c_(c), widened_(widened) {}

  // Makes `current` true for `produced` too; returns whether it had to change.
  bool widen(Type& current, const Type& produced) {
    if (current.is_unknown() || current.kind != produced.kind) return false;
    if (current.elem != produced.elem && current.elem != DType::undefined && produced.elem != DType::undefined)
      c_.fail("infer.loop-type", cat("a carried value of type ", current.text(), " becomes ", produced.text()));
    if (current.inner && produced.inner) {
      Type inner = *current.inner;
      const bool changed = widen(inner, *produced.inner);
      if (changed) current.inner = std::make_shared<const Type>(std::move(inner));
      return changed;
    }
    if (!current.shape) return false;
    if (!produced.shape || produced.shape->size() != current.shape->size()) {
      current.shape.reset();
      return true;
    }
    bool changed = false;
    for (size_t i = 0; i < current.shape->size(); ++i) {
      Dim& d = (*current.shape)[i];
      if (d == (*produced.shape)[i] || contains(widened_, d)) continue;
      d = fresh();
      changed = true;
    }
    return changed;
  }

  void widen_all(Type& t) {
    if (t.inner) {
      Type inner = *t.inner;
      widen_all(inner);
      t.inner = std::make_shared<const Type>(std::move(inner));
    }
    if (!t.shape) return;
    for (Dim& d : *t.shape)
      if (!contains(widened_, d)) d = fresh();
  }

 private:
  Dim fresh() {
    widened_.push_back(c_.fresh("carried"));
    return widened_.back();
  }
  Infer& c_;
  std::vector<Dim>& widened_;
};

int loop_depth(const Graph& g, RegionId r) {
  int depth = 0;
  for (r = g[r].parent; r; r = g[r].parent)
    if (g[r].owner && !g[g[r].owner].is("If")) ++depth;
  return depth;
}

}  // namespace

Diag body_contradiction(const Graph& g, NodeId n, ValueId input, const Type& given) {
  Diag d;
  d.code = "infer.declared";
  d.what = cat(describe(g, n), ": its body's input '", g[input].name, "' is declared as ", g[input].fact.type.text(),
               " but is given ", given.text());
  d.where = place(g, n);
  const Type& declared = g[input].fact.type;
  if (declared.is_tensor() && given.is_tensor() && declared.elem == given.elem) d.severity = Severity::warning;
  return d;
}

BodySnapshot::BodySnapshot(Infer& c, RegionId body)
    : c_(c), dim_facts_(c.graph().facts.mark()), findings_(c.findings ? c.findings->size() : 0) {
  std::vector<RegionId> todo{body};
  const Graph& g = c.graph();
  while (!todo.empty()) {
    const RegionId r = todo.back();
    todo.pop_back();
    for (const ValueId v : g[r].inputs) facts_.emplace_back(v, g[v].fact);
    for (const NodeId n : g.nodes(r)) {
      for (const ValueId v : g[n].outputs) facts_.emplace_back(v, g[v].fact);
      for (const RegionId inner : g[n].regions)
        if (inner) todo.push_back(inner);
    }
  }
}

void BodySnapshot::restore() {
  for (const auto& [v, fact] : facts_) c_.graph().fact(v) = fact;
  forget_dims();
  forget_findings();
}

void BodySnapshot::forget_dims() { c_.graph().facts.rewind(dim_facts_); }

void BodySnapshot::forget_findings() {
  if (c_.findings) c_.findings->resize(findings_);
}

Type LoopTypes::outside(const Type& t, Infer& c) const {
  Type out = t;
  if (t.inner) out.inner = std::make_shared<const Type>(outside(*t.inner, c));
  if (!out.shape) return out;
  for (Dim& d : *out.shape) {
    const auto symbols = symbols_of(d);
    if (std::any_of(symbols.begin(), symbols.end(), [&](Dim s) { return contains(widened, s); })) d = c.fresh();
  }
  return out;
}

LoopTypes infer_carried(Infer& c, const std::vector<Fact>& before, const std::vector<Fact>& initial,
                        const std::vector<Fact>& after, size_t skipped) {
  LoopTypes out;
  Widening widening(c, out.widened);
  for (const Fact& f : initial) out.carried.push_back(f.type);
  const bool try_first = loop_depth(c.graph(), c.region_id(0)) < tried_depth;
  if (!try_first)
    for (Type& t : out.carried) widening.widen_all(t);
  BodySnapshot start(c, c.region_id(0));
  // What the first turn is given must be what the body declares, whatever later turns are given.
  std::vector<Diag> contradictions;
  if (c.findings)
    for (size_t i = 0; i < initial.size(); ++i) {
      const auto& declared = c.graph()[c.region_id(0)].inputs;
      if (const size_t in = before.size() + i;
          in < declared.size() && !merge(c.graph()[declared[in]].fact.type, initial[i].type))
        contradictions.push_back(
            body_contradiction(c.graph(), c.graph()[c.region_id(0)].owner, declared[in], initial[i].type));
    }
  for (int trial = 0;; ++trial) {
    const bool last = trial == max_trials;
    std::vector<Fact> inputs = before;
    for (size_t i = 0; i < initial.size(); ++i) {
      // Contents last only when the body hands the value on untouched.
      const Region& body = c.graph()[c.region_id(0)];
      const size_t in = before.size() + i, result = skipped + i;
      const bool untouched =
          in < body.inputs.size() && result < body.outputs.size() && body.inputs[in] == body.outputs[result];
      inputs.push_back({out.carried[i], untouched ? initial[i].contents : nullptr});
    }
    inputs.insert(inputs.end(), after.begin(), after.end());
    bool changed = false;
    try {
      out.outputs = c.region(0, inputs);
    } catch (const Error& e) {
      if (trial > 0 || is_budget(e)) throw;
      // What fails with the first iteration's sizes may hold for sizes that change.
      for (Type& t : out.carried) widening.widen_all(t);
      changed = true;
    }
    if (!changed)
      for (size_t i = 0; i < initial.size() && skipped + i < out.outputs.size(); ++i)
        changed |= widening.widen(out.carried[i], out.outputs[skipped + i].type);
    if (!changed || last) break;
    if (trial + 1 == max_trials)
      for (Type& t : out.carried) widening.widen_all(t);
    start.restore();
  }
  start.forget_dims();
  if (!contradictions.empty()) {
    start.forget_findings();  // they follow from these
    c.findings->insert(c.findings->end(), contradictions.begin(), contradictions.end());
  }
  return out;
}

}  // namespace cameo::ops
