#include "../on_graph.h"

namespace cameo::tests {
namespace {

// A rewrite of a function's body leaves its constants in the main graph; inference instantiates the body elsewhere.
TEST(Function, ConstantsOutsideItsBody) {
  OnGraph g;
  const RegionId body = g.graph.add_region({}, {});
  const ValueId formal = g.graph.add_input(body, "x", {});
  const ValueId axes = g.on.ints({0, 2});
  const NodeId inner = g.graph.add_node(body, op_of<op::Unsqueeze>(), nullptr, {formal, axes}, 1);
  g.graph.set_region_outputs(body, {g.graph[inner].outputs[0]});
  LocalFunction f;
  f.domain = "my", f.name = "Wide", f.body = body;
  const NodeId call = g.graph.add_node(g.graph.main(), opaque_op("my", "Wide"), nullptr, {g.f32({"n", "4"})}, 1);
  const auto result = infer(g.graph, std::span(&f, 1));
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(g.type(g.graph[call].outputs[0]), "float[1,n,1,4]");
}

}  // namespace
}  // namespace cameo::tests
