// Graphs that Python adds nodes to: that of a Builder, or the one that is being recorded, lent to a lowering for the
// time of one call.
#pragma once

#include "cameo/lowering.h"

#include "bindings.h"

namespace cameo::python {

class HostGraph {
 public:
  explicit HostGraph(NodeBuilder& graph) : graph_(&graph) {}
  NodeBuilder& graph() const;  // throws use.lowering once the call has ended
  void end() { graph_ = nullptr; }

 private:
  NodeBuilder* graph_;
};

// A value of the graph; numbers and arrays become constants, None is an absent operand.
Var operand(NodeBuilder& g, nb::handle h);

// `function` is called with the graph, the operator's name, its arguments by place and by name, and whether it has a
// signature. It has to live as long as these lowerings.
Lowerings lowerings(nb::handle names, nb::handle function);

}  // namespace cameo::python
