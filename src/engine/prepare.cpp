#include "engine/prepare.h"

#include <algorithm>

#include "engine/emit.h"
#include "ops/gate.h"
#include "passes/engine_set.h"

namespace cameo::engine {

namespace {

bool has_row(std::span<const EmitterRow> rows, std::string_view op) {
  return std::any_of(rows.begin(), rows.end(), [&](const EmitterRow& r) { return r.op == op; });
}

EngineTarget target(bool onednn) {
  EngineTarget out;
  out.is_fast = [onednn](std::string_view op) {
    return has_row(simd_emitters(), op) || (onednn && has_row(onednn_emitters(), op));
  };
  out.multiplies_bytes = onednn && onednn_adds_bytes_exactly();
  return out;
}

}  // namespace

void prepare_once(Graph& g, bool onednn) {
  for (const NodeId n : g.nodes(g.main())) check_node(g, n);
  const EngineTarget engine = target(onednn);
  for (const EngineStage stage : {EngineStage::halves, EngineStage::integers, EngineStage::constants})
    rewrite_for_engine(g, stage, engine);
}

void fuse_operators(Graph& g, CheckedNodes& nodes, bool onednn) {
  rewrite_for_engine(g, EngineStage::sized, target(onednn));
  std::vector<NodeId> left;
  for (const NodeId n : g.nodes(g.main())) left.push_back(n);
  nodes.renew(g, std::move(left));
}

}  // namespace cameo::engine
