#include "engine/checked_nodes.h"

#include <algorithm>

#include "engine/compiler.h"
#include "ops/gate.h"

namespace cameo::engine {

CheckedNodes::CheckedNodes(Graph& g, std::vector<NodeId> nodes) : nodes_(std::move(nodes)), known_(g.node_capacity()) {
  for (const NodeId n : nodes_) check_node(g, n);
}

void CheckedNodes::renew(Graph& g, std::vector<NodeId> nodes) {
  nodes_ = std::move(nodes);
  std::vector<bool> changed(g.value_capacity());
  const auto is_changed = [&](ValueId v) { return v && changed[v.index]; };
  const auto reads_changed = [&](NodeId n) {
    if (std::any_of(g[n].inputs.begin(), g[n].inputs.end(), is_changed)) return true;
    return std::any_of(g[n].regions.begin(), g[n].regions.end(), [&](RegionId r) {
      const auto read = captured_values(g, r);
      return std::any_of(read.begin(), read.end(), is_changed);
    });
  };
  for (const NodeId n : nodes_) {
    const bool is_new = n.index >= known_;
    if (!is_new && !reads_changed(n)) continue;
    std::vector<Fact> before;
    for (const ValueId v : g[n].outputs) before.push_back(g[v].fact);
    check_node(g, n);
    for (size_t i = 0; i < before.size(); ++i) {
      const ValueId v = g[n].outputs[i];
      changed[v.index] = is_new || g[v].fact.type != before[i].type || g[v].fact.contents != before[i].contents;
    }
  }
  known_ = g.node_capacity();
}

}  // namespace cameo::engine
