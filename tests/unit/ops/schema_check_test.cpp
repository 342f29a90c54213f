#include "ir/verify.h"
#include "ops/schema_check.h"

#include <gtest/gtest.h>

#include "ir/structure.h"
#include "ops/on.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

Model small() {
  Model m;
  Graph& g = m.graph;
  const ValueId x = g.add_input(g.main(), "x", Type::tensor(DType::f32, {4}));
  On on(g, g.main());
  g.set_region_outputs(g.main(), {on.Neg(on.Relu(x))});
  return m;
}

}  // namespace

TEST(Verify, AcceptsWhatTheGraphBuilds) {
  const Model m = small();
  EXPECT_TRUE(schema_findings(m).empty());
  EXPECT_NO_THROW(verify(m, "at first"));
}

TEST(Verify, FindsMissingUses) {
  Model m = small();
  // No operation of the graph does this.
  const_cast<ir::Value&>(m.graph[m.graph[m.graph.main()].inputs[0]]).uses.clear();
  const auto found = schema_findings(m);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "graph.use");
  EXPECT_THROW(verify(m, "after a test"), Bug);
}

TEST(Verify, FindsUsesBeforeDefinitions) {
  Model m = small();
  Graph& g = m.graph;
  g.move_before(g[g.main()].last, g[g.main()].first);
  const auto found = schema_findings(m);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "graph.scope");
}

TEST(Verify, FindsValuesUsedOutsideTheirBody) {
  Model m = small();
  Graph& g = m.graph;
  const ValueId c = g.add_input(g.main(), "c", Type::tensor(DType::boolean, Shape()));
  const NodeId n = g.add_node(g.main(), op_of<op::If>(), nullptr, {c});
  for (size_t i = 0; i < 2; ++i) {
    const RegionId body = g.add_region(g.main(), n);
    g.set_region(n, i, body);
    On inside(g, body);
    g.set_region_outputs(body, {inside.Abs(g[g.main()].inputs[0])});
  }
  EXPECT_TRUE(schema_findings(m).empty());
  g.set_region_outputs(g.main(), {g[g[n].regions[0]].outputs[0]});
  const auto found = schema_findings(m);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "graph.scope");
}

TEST(Structure, OrderAndNamesDoNotMatter) {
  const auto build = [](bool swapped) {
    Model m;
    Graph& g = m.graph;
    const ValueId x = g.add_input(g.main(), "x", Type::tensor(DType::f32, {4}));
    On on(g, g.main());
    ValueId a, b;
    if (swapped) b = on.Exp(x), a = on.Abs(x);
    else a = on.Abs(x), b = on.Exp(x);
    g.set_region_outputs(g.main(), {on.Add(a, b)});
    return m;
  };
  Model other = build(true);
  EXPECT_EQ(structural_difference(build(false), other).value_or(""), "");
  other.graph.set_input(other.graph[other.graph.main()].last, 1, other.graph[other.graph.main()].inputs[0]);
  EXPECT_FALSE(same_structure(build(false), other));
}

}  // namespace cameo::tests
