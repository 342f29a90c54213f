// Operands against ONNX's schemas, which a file may break as well as we.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace cameo::ops {

// Findings ("graph.arity", "graph.type") about arities and operand types that no schema admits. Where the graph's own
// rules are broken (ir/verify.h), those findings only.
std::vector<Diag> schema_findings(const Model& m);
// The same of one node of ONNX's, in a graph that keeps its own rules.
std::vector<Diag> node_findings(const Graph& g, NodeId n);

}  // namespace cameo::ops
