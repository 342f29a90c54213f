#include "lowering/narrow.h"

#include <gtest/gtest.h>

#include "kernels/carrier.h"

namespace cameo::tests {

namespace {

struct Weights {
  Model model;
  Lower on{model.graph, model.graph.main()};
  V ints = on.constant(convert(Tensor::ints(std::vector<int64_t>{1, 2, 3, 4, 5, 6}).reshaped({2, 3}), DType::i8));
  V zero = on.scalar(Num(int64_t{0}), DType::i8);

  std::string op_of(V v) const { return std::string(model.graph[model.graph[v.id].def].op->name); }
};

}  // namespace

TEST(NarrowWeights, SmallWeightsAreNotFoldedIntoFloats) {
  Weights w;
  const V floats = widened(w.on, {w.ints, w.on.number(0.5, DType::f32), w.zero});
  EXPECT_EQ(w.op_of(floats), "DequantizeLinear");
  const auto narrow = narrow_weight(w.on, floats);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->data.id, w.ints.id);
  EXPECT_EQ(narrow->axis, -1);
  EXPECT_FALSE(narrow_weight(w.on, w.ints)) << "stored as it is used";
}

TEST(NarrowWeights, ScalesFollowTheirAxis) {
  Weights w;
  const V scale = w.on.constant(convert(Tensor::ints(std::vector<int64_t>{1, 10}), DType::f32)),
          zeros = w.on.constant(convert(Tensor::ints(std::vector<int64_t>{0, 0}), DType::i8));
  const V turned = transposed_weight(w.on, widened(w.on, {w.ints, scale, zeros, 0}));
  const auto narrow = narrow_weight(w.on, turned);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->axis, 1);
  EXPECT_EQ(w.on.dtype(narrow->data), DType::i8);
  EXPECT_FALSE(w.on.fact(turned).tensor()) << "a scale is not folded away";
  ASSERT_TRUE(w.on.fact(narrow->data).tensor());
  EXPECT_EQ(w.on.fact(narrow->data).tensor()->int_at(1), 4);
}

TEST(NarrowWeights, HalvesAreCast) {
  Weights w;
  const V half = w.on.constant(convert(Tensor::ints(std::vector<int64_t>{1, 2}).reshaped({1, 2}), DType::f16));
  const V turned = transposed_weight(w.on, widened(w.on, {half, {}, {}}));
  EXPECT_EQ(w.op_of(turned), "Cast");
  EXPECT_EQ(w.on.dtype(turned), DType::f32);
  EXPECT_EQ(w.on.dim(turned, 0), Dim(2));
}

}  // namespace cameo::tests
