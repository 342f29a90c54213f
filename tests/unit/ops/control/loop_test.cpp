#include "../on_graph.h"

namespace cameo::tests {
namespace {

// A loop node with one carried value, its body still empty.
struct OneCarried : OnGraph {
  RegionId body;
  NodeId node;
  ValueId iteration, condition, carried;

  OneCarried(ValueId (*make_initial)(OnGraph&), ValueId trips) {
    const ValueId initial = make_initial(*this);
    node = graph.add_node(graph.main(), op_of<op::Loop>(), nullptr, {trips, {}, initial}, 2);
    body = graph.add_region(graph.main(), node);
    graph.set_region(node, 0, body);
    iteration = graph.add_input(body, "i", {}), condition = graph.add_input(body, "go", {}),
    carried = graph.add_input(body, "x", {});
  }
  std::string out(size_t i) { return type(graph[node].outputs[i]); }
};

TEST(Loop, SizesThatStayAreKept) {
  OneCarried g([](OnGraph& o) { return o.f32({"n", "4"}); }, {});
  g.graph.set_input(g.node, 0, g.on.int_scalar(5));
  On in(g.graph, g.body);
  const NodeId relu = g.graph.add_node(g.body, op_of<op::Identity>(), nullptr, {g.carried}, 1);
  g.graph.set_region_outputs(g.body, {g.condition, g.graph[relu].outputs[0], g.carried});
  const auto result = infer(g.graph);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(g.out(0), "float[n,4]");
  EXPECT_EQ(g.out(1), "float[5,n,4]");
}

TEST(Loop, SizesThatChangeBecomeFresh) {
  OneCarried g([](OnGraph& o) { return o.f32({"1", "4"}); }, {});
  const NodeId twice =
      g.graph.add_node(g.body, op_of<op::Concat>(), std::make_shared<const op::Concat>(op::Concat{.axis = 0}),
                       {g.carried, g.carried}, 1);
  g.graph.set_region_outputs(g.body, {g.condition, g.graph[twice].outputs[0], g.iteration});
  const auto result = infer(g.graph);
  EXPECT_TRUE(result.findings.empty());
  const Shape& out = *g.graph[g.graph[g.node].outputs[0]].fact.type.shape;
  EXPECT_TRUE(is_fresh(out[0]));
  EXPECT_TRUE(out[1].is(4));
  EXPECT_NE(out[0], (*g.graph[g.carried].fact.type.shape)[0]);  // the last iteration's size is not every iteration's
  EXPECT_EQ(g.graph[g.graph[g.node].outputs[1]].fact.type.shape->size(), 1u);
  EXPECT_EQ(infer(g.graph).findings.size(), 0u);  // twice is once
}

TEST(Loop, ABodysInputThatCannotBeWhatItIsGivenIsAFinding) {
  OneCarried g([](OnGraph& o) { return o.f32({"3", "4"}); }, {});
  g.graph.fact(g.carried).type = Type::tensor(DType::f32, {Dim(3), Dim(5)});
  g.graph.set_region_outputs(g.body, {g.condition, g.carried, g.carried});
  const auto result = infer(g.graph);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].code, "infer.declared");
}

TEST(Loop, NestingDoesNotMultiplyTheWork) {
  OnGraph g;
  ValueId x = g.f32({"1"});
  RegionId region = g.graph.main();
  for (int depth = 0; depth < 60; ++depth) {
    const NodeId loop = g.graph.add_node(region, op_of<op::Loop>(), nullptr, {{}, {}, x}, 1);
    const RegionId body = g.graph.add_region(region, loop);
    g.graph.set_region(loop, 0, body);
    g.graph.add_input(body, "", {});
    const ValueId go = g.graph.add_input(body, "", {});
    x = g.graph.add_input(body, "", {});
    const NodeId twice = g.graph.add_node(body, op_of<op::Concat>(),
                                          std::make_shared<const op::Concat>(op::Concat{.axis = 0}), {x, x}, 1);
    g.graph.set_region_outputs(body, {go, g.graph[twice].outputs[0]});
    region = body;
  }
  const auto result = infer(g.graph);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_LT(result.nodes, 20000u);
}

TEST(If, BranchesJoin) {
  OnGraph g;
  const ValueId x = g.f32({"n", "1", "4"}), condition = g.input(DType::boolean, {});
  const auto make = [&](ValueId cond) {
    const NodeId n = g.graph.add_node(g.graph.main(), op_of<op::If>(), nullptr, {cond}, 1);
    for (const size_t i : {0, 1}) {
      const RegionId r = g.graph.add_region(g.graph.main(), n);
      g.graph.set_region(n, i, r);
      const NodeId inner = i ? g.graph.add_node(r, op_of<op::Squeeze>(), nullptr, {x, g.on.ints({0})}, 1)
                             : g.graph.add_node(r, op_of<op::Squeeze>(), nullptr, {x, g.on.ints({1})}, 1);
      g.graph.set_region_outputs(r, {g.graph[inner].outputs[0]});
    }
    infer_node(g.graph, n);
    return g.graph[n].outputs[0];
  };
  const Shape& out = g.on.shape(make(condition));
  EXPECT_EQ(out.size(), 2u);
  EXPECT_TRUE(out[1].is(4));
  EXPECT_EQ(g.graph.facts.all().size(), 0u);  // n == 1 holds only in the branch that needs it
  EXPECT_EQ(g.type(make(g.on.constant(Tensor::bool_scalar(false)))), "float[n,4]");
}

}  // namespace
}  // namespace cameo::tests
