#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/eval.h"
#include "ops/on.h"

namespace cameo::tests {
namespace {

struct WindowTest : testing::Test {
  Graph g;
  On on{g, g.main()};
  ValueId input(std::vector<std::string> dims, DType t = DType::f32) {
    Shape s;
    for (const auto& d : dims) s.push_back(parse_dim(g.dims(), d));
    return g.add_input(g.main(), "x", Type::tensor(t, s));
  }
  ValueId weight(std::vector<int64_t> shape) { return g.add_constant(zeros(DType::f32, std::move(shape))); }
  std::string shape(ValueId v) { return shape_text(on.shape(v)); }
};

Tensor floats(std::vector<int64_t> shape, std::vector<float> v) { return store(DType::f32, std::move(shape), v); }

std::vector<float> run(const OpDef& op, std::shared_ptr<const void> attrs, std::vector<Tensor> in, size_t outputs = 1,
                       size_t which = 0) {
  std::vector<Datum> data(in.begin(), in.end());
  std::vector<const Datum*> pointers;
  for (const auto& d : data) pointers.push_back(&d);
  Eval k(pointers, outputs);
  op.rules.eval(attrs.get(), k);
  const Loaded<float> r(k.results()[which].tensor);
  return {r.span().begin(), r.span().end()};
}

TEST_F(WindowTest, ConvKeepsSymbols) {
  const ValueId x = input({"n", "3", "h", "w"});
  EXPECT_EQ(shape(on.Conv(x, weight({64, 3, 3, 3}), {}, {.pads = std::vector<int64_t>{1, 1, 1, 1}})), "n,64,h,w");
  const ValueId half = on.Conv(x, weight({8, 3, 3, 3}), {},
                               {.pads = std::vector<int64_t>{1, 1, 1, 1}, .strides = std::vector<int64_t>{2, 2}});
  EXPECT_EQ(on.shape(half)[2], floor_div(parse_dim(g.dims(), "h") - 1, 2) + 1);
  EXPECT_EQ(on.shape(on.Conv(x, weight({8, 3, 5, 5}), {},
                             {.auto_pad = "SAME_UPPER", .strides = std::vector<int64_t>{2, 2}}))[3],
            ceil_div(parse_dim(g.dims(), "w"), 2));
  EXPECT_EQ(shape(on.Conv(x, weight({8, 3, 3, 3}), {}, {.dilations = std::vector<int64_t>{2, 1}})), "n,8,h - 4,w - 2");
}

TEST_F(WindowTest, ConvRefusesWrongChannels) {
  const ValueId x = input({"n", "4", "8", "8"});
  EXPECT_THROW(on.Conv(x, weight({8, 3, 3, 3}), {}, {}), Error);
  EXPECT_THROW(on.Conv(x, weight({8, 4, 9, 9}), {}, {}), Error);
  EXPECT_THROW(on.Conv(x, weight({8, 4, 3, 3}), {}, {.strides = std::vector<int64_t>{0, 1}}), Error);
}

TEST_F(WindowTest, CeilModeStartsTheLastWindowInside) {
  const ValueId x = input({"1", "1", "4", "7"});
  EXPECT_EQ(shape(on.AveragePool(x, {.ceil_mode = 1, .kernel_shape = {1, 1}, .strides = std::vector<int64_t>{3, 3}})),
            "1,1,2,3");
  EXPECT_EQ(shape(on.MaxPool(x,
                             {.ceil_mode = 1,
                              .kernel_shape = {2, 2},
                              .pads = std::vector<int64_t>{1, 1, 1, 1},
                              .strides = std::vector<int64_t>{3, 3}},
                             1)[0]),
            "1,1,2,3");
}

TEST_F(WindowTest, TransposedConvSizes) {
  const ValueId x = input({"n", "16", "h", "5"});
  EXPECT_EQ(shape(on.ConvTranspose(x, weight({16, 8, 4, 4}), {},
                                   {.pads = std::vector<int64_t>{1, 1, 1, 1}, .strides = std::vector<int64_t>{2, 2}})),
            "n,8,2*h,10");
}

TEST(WindowKernels, ConvWithPaddingAndGroups) {
  const auto attrs = std::make_shared<const op::Conv>(op::Conv{.group = 2, .pads = std::vector<int64_t>{1, 1}});
  const auto y =
      run(op_of<op::Conv>(), attrs,
          {floats({1, 2, 3}, {1, 2, 3, 10, 20, 30}), floats({2, 1, 3}, {1, 1, 1, 0, 1, 2}), floats({2}, {0, 100})});
  EXPECT_EQ(y, (std::vector<float>{3, 6, 5, 150, 180, 130}));
}

TEST(WindowKernels, MaxPoolIndicesAndNaN) {
  const auto attrs =
      std::make_shared<const op::MaxPool>(op::MaxPool{.kernel_shape = {2}, .strides = std::vector<int64_t>{2}});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = floats({1, 2, 4}, {1, 5, -3, -4, nan, 2, 7, 7});
  const auto y = run(op_of<op::MaxPool>(), attrs, {x}, 2);
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], -3);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(run(op_of<op::MaxPool>(), attrs, {x}, 2, 1), (std::vector<float>{1, 2, 4, 6}));
}

TEST(WindowKernels, AverageCountsThePadding) {
  op::AveragePool a{.ceil_mode = 1,
                    .count_include_pad = 1,
                    .kernel_shape = {3},
                    .pads = std::vector<int64_t>{1, 1},
                    .strides = std::vector<int64_t>{2}};
  EXPECT_EQ(
      run(op_of<op::AveragePool>(), std::make_shared<const op::AveragePool>(a), {floats({1, 1, 4}, {3, 3, 3, 3})}),
      (std::vector<float>{2, 3, 1.5f}));
  a.count_include_pad = 0;
  EXPECT_EQ(
      run(op_of<op::AveragePool>(), std::make_shared<const op::AveragePool>(a), {floats({1, 1, 4}, {3, 3, 3, 3})}),
      (std::vector<float>{3, 3, 3}));
}

}  // namespace
}  // namespace cameo::tests
