#include "backends/onnx/legalise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "backends/onnx/widening.h"
#include "backends/onnx/writer.h"
#include "ops/on.h"

namespace cameo::onnx {

namespace {

struct Case {
  Model m;
  On on{m.graph, m.graph.main()};
  ValueId input(DType t) {
    return m.graph.add_input(m.graph.main(), "x", Type::tensor(t, {m.graph.dims().symbol("N"), Dim(4)}));
  }
  LegaliseResult to(int64_t opset, ValueId y, bool lossy = false) {
    m.graph.label(y).name = "y";
    m.graph.set_region_outputs(m.graph.main(), {y});
    LegaliseOptions options;
    options.lossy = lossy;
    return legalise(m, opset, options);
  }
  std::vector<std::string> ops() const {
    std::vector<std::string> out;
    for (const NodeId n : m.graph.nodes(m.graph.main())) out.emplace_back(m.graph[n].op->name);
    return out;
  }
};

using Ops = std::vector<std::string>;

}  // namespace

TEST(Legalise, WhatTheTargetHasStays) {
  Case c;
  EXPECT_TRUE(c.to(9, c.on.Relu(c.input(DType::f32))).refusals.empty());
  EXPECT_EQ(c.ops(), Ops{"Relu"});
}

TEST(Legalise, IntegersAreComparedInAWiderType) {
  Case c;
  const ValueId x = c.input(DType::i32);
  EXPECT_TRUE(c.to(11, c.on.Max(std::array{x, c.on.Neg(x)})).refusals.empty());
  EXPECT_EQ(c.ops(), (Ops{"Neg", "Cast", "Cast", "Max", "Cast"}));
  const ValueId y = c.m.graph[c.m.graph.main()].outputs[0];
  EXPECT_EQ(c.m.graph[y].name, "y");
  EXPECT_EQ(c.m.graph[y].fact.dtype(), DType::i32);
}

TEST(Legalise, RefusesWhatNoTypeHoldsAndNamesTheOpset) {
  Case c;
  const ValueId x = c.input(DType::string);
  const auto result = c.to(18, c.on.Equal(x, x));
  ASSERT_EQ(result.refusals.size(), 1u);
  EXPECT_EQ(result.refusals[0].code, "convert.refused");
  EXPECT_EQ(result.refusals[0].hint, "opset 19 is the lowest that can");
}

TEST(Legalise, RefusesOperatorsThatNobodyKnows) {
  for (const char* name : {"Consat", "Concat"}) {  // the second stands for an encoding that could not be read
    Case c;
    const ValueId x = c.input(DType::f32);
    const NodeId n = c.m.graph.add_node(c.m.graph.main(), opaque_op("", name), nullptr, {x});
    const auto result = c.to(21, c.m.graph[n].outputs[0]);
    ASSERT_EQ(result.refusals.size(), 1u) << name;
    EXPECT_EQ(result.refusals[0].hint, "");
  }
}

TEST(Legalise, ArithmeticOnIntegersStaysInteger) {
  Case c;
  const ValueId x = c.input(DType::u8);
  EXPECT_TRUE(c.to(13, c.on.Add(x, x)).refusals.empty());
  EXPECT_EQ(c.ops(), (Ops{"Cast", "Cast", "Add", "Cast"}));
}

TEST(Legalise, MissingOperatorsAreExpanded) {
  Case c;
  const ValueId x = c.input(DType::f32);
  const auto result = c.to(13, c.on.Gelu(x));
  EXPECT_TRUE(result.refusals.empty());
  EXPECT_EQ(result.expanded, 1u);
  for (const auto& op : c.ops()) EXPECT_NE(op, "Gelu");
  EXPECT_EQ(c.m.graph[c.m.graph[c.m.graph.main()].outputs[0]].name, "y");
}

TEST(Legalise, BodiesAreDoneToo) {
  Case c;
  Graph& g = c.m.graph;
  const ValueId cond = g.add_input(g.main(), "c", Type::tensor(DType::boolean, Shape{}));
  const ValueId x = c.input(DType::f32);
  const NodeId n = g.add_node(g.main(), op_of<op::If>(), nullptr, {cond});
  for (size_t i = 0; i < 2; ++i) {
    const RegionId r = g.add_region(g.main(), n);
    g.set_region(n, i, r);
    On inner(g, r);
    g.set_region_outputs(r, {inner.Gelu(x)});
  }
  EXPECT_TRUE(c.to(13, g[n].outputs[0]).refusals.empty());
  for (const RegionId r : g[n].regions)
    for (const NodeId inner : g.nodes(r)) EXPECT_FALSE(g[inner].is("Gelu"));
}

TEST(Legalise, WhatInferenceKnowsBecomesAConstant) {
  Case c;
  const ValueId x = c.input(DType::f32), axis = c.on.Sub(c.on.ints({3}), c.on.ints({2}));
  EXPECT_TRUE(c.to(11, c.on.ReduceSum(x, axis)).refusals.empty());
  EXPECT_EQ(c.ops(), Ops{"ReduceSum"});
}

TEST(Legalise, AxesThatTheModelComputesAreAskedForOneByOne) {
  Case c;
  const ValueId axes = c.m.graph.add_input(c.m.graph.main(), "axes", Type::tensor(DType::i64, {Dim(1)}));
  const ValueId x = c.input(DType::f32);
  EXPECT_TRUE(c.to(11, c.on.ReduceSum(x, axes)).refusals.empty());
  const auto ops = c.ops();
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "Loop"), 2);       // each runs once or not at all
  EXPECT_EQ(std::count(ops.begin(), ops.end(), "ReduceSum"), 1);  // which axes are listed
}

TEST(Legalise, ANodeThatInferenceRefusesIsNotExpanded) {
  Case c;
  Graph& g = c.m.graph;
  const ValueId x = c.input(DType::f32);
  const NodeId n = g.add_node(g.main(), op_of<op::Split>(),
                              std::make_shared<const op::Split>(op::Split{.axis = 7, .num_outputs = 2}), {x}, 2);
  EXPECT_EQ(c.to(13, g[n].outputs[0]).refusals.size(), 1u);
}

TEST(Widening, PicksTheSmallestTypeThatHoldsAll) {
  TypeSet all{~uint64_t{0}, ~uint64_t{0}};
  const OpDef &max = op_of<op::Max>(), &add = op_of<op::Add>();
  EXPECT_EQ(wider_type(DType::i8, max, all), DType::i16);
  EXPECT_EQ(wider_type(DType::u8, add, all), DType::u16);
  EXPECT_EQ(wider_type(DType::bf16, add, all), DType::f32);
  EXPECT_EQ(wider_type(DType::f8e5m2, add, all), DType::f16);
  EXPECT_EQ(wider_type(DType::f64, max, all), std::nullopt);
  EXPECT_EQ(wider_type(DType::string, max, all), std::nullopt);
  const SchemaVersion& old = *max.at(8);
  EXPECT_EQ(wider_type(DType::i32, max, old.types_of(old.inputs[0])), DType::f64);
  EXPECT_EQ(wider_type(DType::i8, max, old.types_of(old.inputs[0])), DType::f16);
  EXPECT_EQ(wider_type(DType::i64, max, old.types_of(old.inputs[0])), std::nullopt);
}

}  // namespace cameo::onnx
