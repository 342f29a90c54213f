#include <gtest/gtest.h>

#include "kernels/carrier.h"
#include "ops/on.h"

namespace cameo::tests {
namespace {

struct ResizeTest : testing::Test {
  Graph g;
  On on{g, g.main()};
  Dim h = g.dims().symbol("h"), w = g.dims().symbol("w");
  ValueId image = g.add_input(g.main(), "x", Type::tensor(DType::f32, {1, 3, h, w}));
  ValueId scales(std::vector<float> v) {
    const auto n = static_cast<int64_t>(v.size());
    return g.add_constant(store(DType::f32, {n}, v));
  }
};

TEST_F(ResizeTest, ScalesBecomeArithmetic) {
  EXPECT_EQ(shape_text(on.shape(on.Resize(image, {}, scales({1, 1, 2, 2})))), "1,3,2*h,2*w");
  const ValueId half = on.Resize(image, {}, scales({1, 1, 0.5f, 1.5f}));
  EXPECT_EQ(on.shape(half)[2], floor_div(h, 2));
  EXPECT_EQ(on.shape(half)[3], floor_div(w * 3, 2));
  // No short binary fraction: the size has no algebra, but equals itself.
  const ValueId odd = on.Resize(image, {}, scales({1, 1, 1.3f, 1})),
                again = on.Resize(image, {}, scales({1, 1, 1.3f, 1}));
  EXPECT_EQ(on.shape(odd)[2], on.shape(again)[2]);
}

TEST_F(ResizeTest, SizesOfSomeAxes) {
  const ValueId sizes = on.ints({224, 224});
  const op::Resize a{.axes = std::vector<int64_t>{2, 3}, .mode = "linear"};
  EXPECT_EQ(shape_text(on.shape(on.Resize(image, {}, {}, sizes, a))), "1,3,224,224");
  EXPECT_THROW(on.Resize(image, {}, {}, on.ints({1, 3, 224}), {}), Error);
  EXPECT_THROW(on.Resize(image), Error);
}

TEST_F(ResizeTest, LinearBetweenPixels) {
  const ValueId x = g.add_constant(store(DType::f32, {1, 1, 1, 2}, std::vector<float>{0, 4}));
  const ValueId y = on.Resize(x, {}, scales({1, 1, 1, 2}), {}, {.mode = "linear"});
  ASSERT_NE(on.fact(y).tensor(), nullptr);
  EXPECT_EQ(on.fact(y).tensor()->to_doubles(), (std::vector<double>{0, 1, 3, 4}));
}

TEST_F(ResizeTest, NearestMovesStrings) {
  const ValueId x = g.add_constant(Tensor({2}, std::vector<std::string>{"a", "b"}));
  const ValueId y = on.Resize(x, {}, {}, on.ints({4}));
  ASSERT_NE(on.fact(y).tensor(), nullptr);
  EXPECT_EQ(on.fact(y).tensor()->strings(), (std::vector<std::string>{"a", "a", "b", "b"}));
}

}  // namespace
}  // namespace cameo::tests
