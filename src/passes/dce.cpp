#include "passes/dce.h"

#include <algorithm>

namespace cameo::passes {

size_t remove_dead_code(Graph& g) {
  std::vector<NodeId> work;
  for (uint32_t i = g.node_capacity(); i-- > 0;) work.emplace_back(i);
  std::reverse(work.begin(), work.end());
  size_t removed = 0;
  while (!work.empty()) {
    const NodeId n = work.back();
    work.pop_back();
    const Node& node = g[n];
    if (node.dead) continue;
    const bool used = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return g.used(v); });
    if (used) continue;
    std::vector<NodeId> producers;
    for (const ValueId v : node.inputs)
      if (v && g[v].def) producers.push_back(g[v].def);
    // What a body reads from outside may be dead with it.
    const bool had_bodies = std::any_of(node.regions.begin(), node.regions.end(), [](RegionId r) { return r.valid(); });
    g.erase(n);
    ++removed;
    work.insert(work.end(), producers.begin(), producers.end());
    if (had_bodies)
      for (uint32_t i = 0; i < n.index; ++i) work.emplace_back(i);
  }
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const ValueId v(i);
    if (g[v].kind == Value::Kind::initializer && !g.used(v)) g.erase_initializer(v);
  }
  return removed;
}

}  // namespace cameo::passes
