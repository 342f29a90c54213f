// What stands behind the public NodeBuilder: a graph of its own, or one that staging lends to a lowering.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "ops/on.h"

#include "api/state.h"
#include "cameo/build.h"

namespace cameo {

struct NodeBuilderState {
  ir::Graph& graph;
  ops::On& on;
  std::function<void(std::string_view domain)> uses_domain = {};  // of operators that are not ours
  std::function<void(support::NodeId)> added = {};                // nodes that `on` did not emit
  std::function<void(support::ValueId)> made = {};                // results of operators
  bool staged = false;  // values have the types that the program gives them, not those of linger's nodes

  static std::unique_ptr<NodeBuilder> make(std::unique_ptr<NodeBuilderState> state);
  static NodeBuilderState& of(const NodeBuilder& b) { return *b.state_; }
  static Var var(NodeBuilder& b, support::ValueId v) { return {&b, v.index}; }
  static std::vector<Var> vars(NodeBuilder& b, const std::vector<support::ValueId>& values);
  // The value behind a Var, where it can be used here; `by` is who uses it. Throws build.foreign, .absent, .body.
  static support::ValueId checked(const NodeBuilder& b, Var v, std::string_view by);
};

// "f32[batch,3]"; throws build.type.
ir::Type parse_type(std::string_view text, ir::DimContext& dims);
// Throws what ONNX's schema refuses about the node's operands.
void need_operands(const ir::Graph& g, support::NodeId n);

}  // namespace cameo
