// Nodes that passed the gate before compute (ops/gate.h) with the sizes of the plan that they are for. The compiler
// takes nothing else, so a plan that was not checked cannot be made.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"

namespace cameo::engine {

class CheckedNodes {
 public:
  // In their order, on operands whose facts are real. Throws the first finding.
  CheckedNodes(Graph& g, std::vector<NodeId> nodes);
  // After a rewriting that put other nodes in the place of some: those that are new are checked, and what reads them
  // again. Nobody relies on what a rule says about shapes.
  void renew(Graph& g, std::vector<NodeId> nodes);
  std::span<const NodeId> list() const { return nodes_; }

 private:
  std::vector<NodeId> nodes_;
  uint32_t known_;  // nodes below this were there when the first check was made
};

}  // namespace cameo::engine
