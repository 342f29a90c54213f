#include "ir/graph.h"

#include <gtest/gtest.h>

#include "ops/on.h"
#include "ir/verify.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

struct Small {
  Model model;
  Graph& g = model.graph;
  ValueId a, b, c;

  Small() {
    a = g.add_input(g.main(), "a", Type::tensor(DType::f32, {2}));
    b = g.add_input(g.main(), "b", Type::tensor(DType::f32, {2}));
    c = g.add_input(g.main(), "c", Type::tensor(DType::f32, {2}));
    On on(g, g.main());
    g.set_region_outputs(g.main(), {on.Add(a, on.Mul(b, c))});
  }
  std::vector<ValueId> inputs() const { return g[g.main()].inputs; }
  void expect_sound() const {
    EXPECT_NO_THROW(verify(model, "in a test"));
    for (uint32_t i = 0; i < inputs().size(); ++i) EXPECT_EQ(g[inputs()[i]].def_index, i);
  }
};

std::shared_ptr<const Weight> pair() {
  const float values[] = {1, 2};
  return std::make_shared<const Weight>(Weight::of(Tensor::of<float>(DType::f32, {2}, values)));
}

}  // namespace

TEST(Graph, ReordersInputsAndNumbersThemAnew) {
  Small s;
  s.g.reorder_inputs(s.g.main(), {s.c, s.a, s.b});
  EXPECT_EQ(s.inputs(), (std::vector{s.c, s.a, s.b}));
  s.expect_sound();
}

TEST(Graph, ReorderingTakesOnlyTheSameInputs) {
  Small s;
  EXPECT_THROW(s.g.reorder_inputs(s.g.main(), {s.a, s.b}), Bug);
  EXPECT_THROW(s.g.reorder_inputs(s.g.main(), {s.a, s.b, s.b}), Bug);
  s.expect_sound();
}

TEST(Graph, AnInputWithADefaultIsPromotedToAnInitializer) {
  Small s;
  s.g.set_weight(s.b, pair());
  s.g.promote_to_initializer(s.b);
  EXPECT_EQ(s.inputs(), (std::vector{s.a, s.c}));
  EXPECT_EQ(s.g[s.b].kind, ir::Value::Kind::initializer);
  EXPECT_EQ(s.g[s.g.main()].initializers.back(), s.b);
  EXPECT_TRUE(s.g.constant(s.b));
  s.expect_sound();
}

TEST(Graph, OnlyInputsWithADefaultArePromoted) {
  Small s;
  EXPECT_THROW(s.g.promote_to_initializer(s.a), Bug);
  EXPECT_THROW(s.g.set_weight(s.g[s.g.main()].outputs[0], pair()), Bug);
  s.expect_sound();
}

TEST(Graph, ABrokenPromiseIsNoError) {
  Small s;
  try {
    s.g.remove_region_input(s.g.main(), 0);  // it is used
    FAIL() << "nothing was thrown";
  } catch (const Error&) {
    FAIL() << "it was told as a fault of the model";
  } catch (const Bug& bug) {
    EXPECT_EQ(bug.diag().where.file, "src/ir/graph.cpp");
  }
}

}  // namespace cameo::tests
