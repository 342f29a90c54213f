#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "quant/rounding/compensate.h"
#include "unit/engine/models.h"

namespace cameo::tests {

using namespace quant;

Product only_product(const Model& m) {
  for (const NodeId n : m.graph.nodes(m.graph.main()))
    if (auto p = product_of(m.graph, n)) return *p;
  throw error("test.none", "there is no product");
}

// Every row times the weights of its group gives what the operator gives at some position.
TEST(Patches, AreWhatWeightsMultiply) {
  const char* texts[] = {
      "g (float[2,3,7,6] x, float[4,3,3,2] w) => (y) { y = Conv<pads=[1,0,2,1], strides=[2,1]>(x, w) }",
      "g (float[1,4,6,6] x, float[6,2,3,3] w) => (y) { y = Conv<group=2, dilations=[2,1]>(x, w) }",
      "g (float[1,5,6,6] x, float[5,1,3,3] w) => (y) { y = Conv<group=5, auto_pad=\"SAME_UPPER\">(x, w) }",
      "g (float[2,3,9] x, float[4,3,3] w) => (y) { y = Conv<pads=[1,1]>(x, w) }",
      "g (float[5,3] x, float[4,3] w) => (y) { y = Gemm<transB=1>(x, w) }",
      "g (float[2,5,3] x, float[3,4] w) => (y) { y = MatMul(x, w) }"};
  for (const char* text : texts) {
    const Model m = model_of(text);
    const Product p = only_product(m);
    ASSERT_TRUE(has_patches(m.graph, p)) << text;
    const std::vector<Datum> inputs = inputs_of(m.graph, 1);
    const auto result = engine::Session(m).run(inputs)[0].tensor.to_doubles();
    const Patches patches = patches_of(m, {p}, {inputs}, 1 << 20, {.threads = 1})[0];
    const auto w = m.graph.constant(p.weight)->to_doubles();
    const int64_t depth = depth_of(m.graph, p);
    ASSERT_EQ(patches[0].depth, depth);
    EXPECT_EQ(static_cast<size_t>(patches[0].rows() * p.outputs()), result.size()) << text;
    const auto each = static_cast<size_t>(p.outputs()) / patches.size();
    double wanted = 0, found = 0;  // sums of squares do not depend on the order
    for (const double y : result) wanted += y * y;
    for (size_t group = 0; group < patches.size(); ++group)
      for (int64_t r = 0; r < patches[group].rows(); ++r)
        for (size_t n = 0; n < each; ++n) {
          double y = 0;
          for (int64_t k = 0; k < depth; ++k) {
            const auto output = static_cast<int64_t>(group * each + n);
            const int64_t at = p.weight_axis == 0 ? output * depth + k : k * p.outputs() + output;
            y += w[static_cast<size_t>(at)] * static_cast<double>(patches[group].row(r)[static_cast<size_t>(k)]);
          }
          found += y * y;
        }
    EXPECT_NEAR(found / wanted, 1, 1e-5) << text;
  }
}

// Inputs that go together: errors of weights that they meet can make up for each other.
TEST(Compensated, ResultsAreCloserThanFromNearestLevels) {
  const Model m = model_of("g (float[256,24] x, float[16,24] w) => (y) { y = Gemm<transB=1>(x, w) }");
  const Product p = only_product(m);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  Patches rows(1);
  rows[0].depth = 24;
  for (int r = 0; r < 400; ++r) {
    const float shared = normal(random);
    for (int k = 0; k < 24; ++k) rows[0].numbers.push_back(shared + 0.2F * normal(random));
  }
  const Tensor dense = *m.graph.constant(p.weight);
  const Loaded<float> weights(dense);
  constexpr Grid four_bits{4, true, true};
  const QuantizedWeight nearest = quantize_weight(p, weights.span(), four_bits, true, nullptr);
  const QuantizedWeight made = compensated(m.graph, p, weights.span(), nearest, rows, four_bits, nullptr, 1);
  EXPECT_EQ(made.scales, nearest.scales);
  const auto noise = [&](const QuantizedWeight& q) {
    double out = 0;
    for (int64_t r = 0; r < rows[0].rows(); ++r)
      for (size_t n = 0; n < 16; ++n) {
        double y = 0;
        for (size_t k = 0; k < 24; ++k) {
          const double level = static_cast<double>(static_cast<int8_t>(q.levels.span()[n * 24 + k]));
          y += (level * static_cast<double>(q.scales[n]) - static_cast<double>(weights.span()[n * 24 + k])) *
               static_cast<double>(rows[0].row(r)[k]);
        }
        out += y * y;
      }
    return out;
  };
  EXPECT_LT(noise(made), noise(nearest) / 2);
  EXPECT_GE(made.error, nearest.error * 0.999);  // each weight by itself is no nearer
}

// Too few rows to learn from.
TEST(Compensated, KeepsNearestLevelsWithoutRows) {
  const Model m = model_of("g (float[4,8] x, float[8,3] w) => (y) { y = MatMul(x, w) }");
  const Product p = only_product(m);
  const Tensor dense = *m.graph.constant(p.weight);
  const Loaded<float> weights(dense);
  constexpr Grid i8{8, true, true};
  const QuantizedWeight nearest = quantize_weight(p, weights.span(), i8, true, nullptr);
  Patches none(1);
  none[0].depth = 8;
  const QuantizedWeight made = compensated(m.graph, p, weights.span(), nearest, none, i8, nullptr, 1);
  EXPECT_TRUE(std::equal(made.levels.span().begin(), made.levels.span().end(), nearest.levels.span().begin()));
}

}  // namespace cameo::tests
