#include "quant/insert/weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/engine/models.h"

namespace cameo::tests {

using namespace quant;

constexpr Grid i8{8, true, true};

Product first_product(const Model& m) {
  for (const NodeId n : m.graph.nodes(m.graph.main()))
    if (auto p = product_of(m.graph, n)) return *p;
  throw error("test.none", "there is no product");
}

struct Expected {
  int64_t channel, input, output;
};
void expect_places(const Product& p, const std::vector<Expected>& places) {
  for (size_t i = 0; i < places.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    EXPECT_EQ(p.channel(at), places[i].channel) << i;
    EXPECT_EQ(p.input(at), places[i].input) << i;
    EXPECT_EQ(p.output(at), places[i].output) << i;
  }
  Product::Walk walk(p);
  int64_t count = 1;
  for (const int64_t size : p.shape) count *= size;
  for (int64_t i = 0; i < count; ++i, walk.next()) {
    EXPECT_EQ(walk.channel(), p.channel(i)) << i;
    EXPECT_EQ(walk.input(), p.input(i)) << i;
    EXPECT_EQ(walk.output(), p.output(i)) << i;
  }
}

TEST(Products, Conv) {
  const Model m = model_of("g (float[1,2,4,4] x, float[3,2,1,2] w) => (y) { y = Conv(x, w) }");
  const Product p = first_product(m);
  EXPECT_EQ(p.channels(), 3);
  expect_places(p, {{0, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 1, 0}, {1, 0, 1}});
}

TEST(Products, GroupedConv) {
  const Model m = model_of("g (float[1,4,4,4] x, float[4,2,1,1] w) => (y) { y = Conv<group=2>(x, w) }");
  expect_places(first_product(m), {{0, 0, 0}, {0, 1, 0}, {1, 0, 1}, {1, 1, 1}, {2, 2, 2}, {2, 3, 2}});
}

TEST(Products, GroupedConvTranspose) {
  const Model m = model_of("g (float[1,4,4,4] x, float[4,3,1,1] w) => (y) { y = ConvTranspose<group=2>(x, w) }");
  const Product p = first_product(m);
  EXPECT_EQ(p.weight_axis, 1);
  EXPECT_EQ(p.outputs(), 6);
  expect_places(p, {{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {0, 1, 0}, {1, 1, 1}, {2, 1, 2}, {0, 2, 3}, {1, 2, 4}});
}

TEST(Products, GemmAndMatMul) {
  const Product gemm = first_product(model_of("g (float[5,2] x, float[3,2] w) => (y) { y = Gemm<transB=1>(x, w) }"));
  EXPECT_EQ(gemm.weight_axis, 0);
  expect_places(gemm, {{0, 0, 0}, {0, 1, 0}, {1, 0, 1}});
  const Product plain = first_product(model_of("g (float[5,2] x, float[2,3] w) => (y) { y = MatMul(x, w) }"));
  EXPECT_EQ(plain.weight_axis, 1);
  EXPECT_EQ(plain.data_axis, 1);
  expect_places(plain, {{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {0, 1, 0}});
}

TEST(Weights, EachChannelHasItsScale) {
  const Model m = model_of("g (float[5,2] x, float[2,2] w) => (y) { y = Gemm<transB=1>(x, w) }");
  const std::vector<float> w{1.27f, 0.01f, 127, 1};
  const QuantizedWeight q = quantize_weight(first_product(m), w, i8, true, nullptr);
  ASSERT_EQ(q.scales.size(), 2u);
  EXPECT_NEAR(q.scales[0], 0.01f, 1e-6);
  EXPECT_NEAR(q.scales[1], 1, 1e-6);
  EXPECT_EQ(quantize_weight(first_product(m), w, i8, false, nullptr).scales.size(), 1u);
}

TEST(Weights, ShiftIsWhatRoundingAddsToTheMean) {
  const Model m = model_of("g (float[5,2] x, float[1,2] w) => (y) { y = Gemm<transB=1>(x, w) }");
  const std::vector<float> w{1.27f, 0.004f};  // the second becomes 0
  ChannelMoments inputs;
  inputs.count = 10, inputs.sum = {0, 50}, inputs.square = {10, 300}, inputs.high = {1, 9};
  const QuantizedWeight q = quantize_weight(first_product(m), w, i8, true, &inputs);
  const auto levels = q.levels.span();
  const double error = static_cast<double>(static_cast<int8_t>(levels[1])) * static_cast<double>(q.scales[0]) - 0.004;
  EXPECT_NEAR(q.shift[0], error * 5, 1e-6);
}

TEST(Weights, ZerosAndStrangeNumbers) {
  const Model m = model_of("g (float[5,2] x, float[2,2] w) => (y) { y = Gemm<transB=1>(x, w) }");
  const std::vector<float> w{0, 0, NAN, INFINITY};
  const QuantizedWeight q = quantize_weight(first_product(m), w, i8, true, nullptr);
  for (const float s : q.scales) EXPECT_GT(s, 0);
  for (const std::byte b : q.levels.span()) EXPECT_EQ(b, std::byte{0});
}

}  // namespace cameo::tests
