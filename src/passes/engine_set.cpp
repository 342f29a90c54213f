#include "passes/engine_set.h"

#include <algorithm>

#include "ops/schema.h"
#include "passes/rules/engine/tables.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

using Rules = std::vector<Rule>;

Rules joined(std::initializer_list<Rules> families) {
  Rules out;
  for (const Rules& family : families) out.insert(out.end(), family.begin(), family.end());
  return out;
}

// The rules that simplify has too are made by the same functions.
Rules make_rules(EngineStage stage) {
  switch (stage) {
    case EngineStage::halves: return half_rules();
    case EngineStage::integers: return integer_rules();
    case EngineStage::constants: return joined({{fold_chain(), batchnorm_into_linear()}, batchnorm_rules()});
    case EngineStage::sized:
      return joined(
          {{gelu_erf(), swish(), attention_fusion()}, attention_head_rules(), pool_rules(), batchnorm_rules()});
  }
  return {};
}

struct Table {
  explicit Table(EngineStage stage) : rules(make_rules(stage)) {
    for (const Rule& r : rules) pointers.push_back(&r);
  }
  Rules rules;
  std::vector<const Rule*> pointers;
};

const Table& table(EngineStage stage) {
  static const Table tables[] = {Table(EngineStage::halves), Table(EngineStage::integers),
                                 Table(EngineStage::constants), Table(EngineStage::sized)};
  return tables[static_cast<size_t>(stage)];
}

}  // namespace

std::span<const Rule* const> engine_rules(EngineStage stage) { return table(stage).pointers; }

EngineResult rewrite_for_engine(Graph& g, EngineStage stage, const EngineTarget& target,
                                std::span<const std::string> only, bool keep_misses) {
  std::vector<const Rule*> chosen;
  if (!only.empty())
    for (const Rule* r : engine_rules(stage))
      if (std::find(only.begin(), only.end(), r->name) != only.end()) chosen.push_back(r);
  RewriterOptions how;
  how.opset = newest_released_opset;
  how.rules = only.empty() ? &table(stage).pointers : &chosen;
  how.keep_misses = keep_misses;
  how.engine = &target;
  how.real_sizes = stage == EngineStage::sized;
  how.bodies = stage == EngineStage::halves;
  // A node that nobody reads is still checked by the gate with the real sizes, as the reference does.
  how.erase_unused = stage == EngineStage::sized;
  Rewriter rewriter(g, how);
  rewriter.push_all();
  rewriter.run();
  return {std::move(rewriter.ledger), std::move(rewriter.misses)};
}

NodeId deferred_constant(const Graph& g, ValueId v) {
  const auto is_half = [](DType t) { return t == DType::f16 || t == DType::bf16; };
  const NodeId n = v ? g[v].def : NodeId();
  if (!n || !g.input(n, 0) || !(g[n].is("Cast") || g[n].is("DequantizeLinear")) || !g[v].fact.type.is_tensor() ||
      g[v].fact.dtype() != DType::f32)
    return {};
  if (g[n].is("Cast") && !(g[g[n].inputs[0]].fact.type.is_tensor() && is_half(g[g[n].inputs[0]].fact.dtype())))
    return {};
  const auto& in = g[n].inputs;
  return std::all_of(in.begin(), in.end(), [&](ValueId i) { return !i || g.is_constant(i); }) ? n : NodeId();
}

}  // namespace cameo::passes
