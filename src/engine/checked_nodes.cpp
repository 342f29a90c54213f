#include "engine/checked_nodes.h"

#include "ops/gate.h"

namespace cameo::engine {

CheckedNodes::CheckedNodes(Graph& g, std::vector<NodeId> nodes) : nodes_(std::move(nodes)), known_(g.node_capacity()) {
  for (const NodeId n : nodes_) check_node(g, n);
}

void CheckedNodes::renew(Graph& g, std::vector<NodeId> nodes) {
  nodes_ = std::move(nodes);
  for (const NodeId n : nodes_)
    if (n.index >= known_) check_node(g, n);
  known_ = g.node_capacity();
}

}  // namespace cameo::engine
