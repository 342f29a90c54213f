#include "engine/prepare.h"

#include <algorithm>

#include "engine/emit.h"
#include "ops/gate.h"
#include "passes/engine_set.h"

namespace cameo::engine {

namespace {

EngineTarget target(bool onednn) {
  EngineTarget out;
  out.is_fast = [onednn](const OpInfo& op) {
    return find_row(simd_emitters(), op) || (onednn && find_row(onednn_emitters(), op));
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
