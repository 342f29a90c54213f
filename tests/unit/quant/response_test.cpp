#include "quant/schemes/response.h"

#include <gtest/gtest.h>

#include <cmath>

#include "unit/engine/models.h"

namespace cameo::tests {

using namespace quant;

namespace {

Curve curve_of(const char* text, const Range& over) {
  const Model m = model_of(text);
  return response(m.graph, m.graph[m.graph.main()].inputs[0], over);
}

double swish(double x) { return x / (1 + std::exp(-x)); }

}  // namespace

TEST(Response, OfGatesAndFunctions) {
  const Range over{-8, 4};
  for (const char* text : {"g (float[8] x) => (y) { s = Sigmoid(x)  y = Mul(x, s) }",
                           "g (float[8] x) => (y) { s = Sigmoid(x)  y = Mul(s, x) }"}) {
    const Curve c = curve_of(text, over);
    for (const double x : {-8.0, -3.3, -1.0, 0.0, 0.7, 4.0}) EXPECT_NEAR(c.at(x), swish(x), 1e-4) << text;
    EXPECT_NEAR(c.slope(3.9), 1.06, 0.02);
    EXPECT_LT(std::fabs(c.slope(-7.9)), 0.01);
  }
  const Curve hard = curve_of(
      "g (float[8] x) => (y) <float k = {3}, float low = {0}, float high = {6}> { a = Add(x, k)  c = Clip(a, low, "
      "high) "
      "m = Mul(x, c)  y = Div(m, high) }",
      over);
  EXPECT_NEAR(hard.at(-4), 0, 1e-6);
  EXPECT_NEAR(hard.at(1.5), 1.5 * 4.5 / 6, 1e-3);
  EXPECT_NEAR(hard.at(9), 4, 1e-3);  // flat beyond what was asked for
}

TEST(Response, ThatDependsOnOtherValuesIsNone) {
  const Range over{-8, 4};
  for (const char* text :
       {"g (float[8] x, float[8] z) => (y) { s = Sigmoid(z)  y = Mul(x, s) }",
        "g (float[8] x) => (s, y) { s = Sigmoid(x)  y = Mul(x, s) }", "g (float[8] x) => (y, x) { y = Sigmoid(x) }",
        "g (float[8] x, float[8,8] w) => (y) { y = MatMul(x, w) }",
        "g (float[8] x) => (y) <float[8] k = {1, 2, 3, 4, 5, 6, 7, 8}> { y = Mul(x, k) }"})
    EXPECT_TRUE(curve_of(text, over).points.empty()) << text;
  EXPECT_TRUE(curve_of("g (float[8] x) => (y) { y = Sigmoid(x) }", {0, 0}).points.empty());
}

// Numbers that the gate makes next to nothing need no steps: more of them are left for the others.
TEST(Response, RangesAreCutWhereReadersAreFlat) {
  Histogram h;
  std::vector<float> x;
  for (int i = 0; i < 4000; ++i) x.push_back(static_cast<float>(i) / 400 - 8);  // -8 to 2
  h.add(x, SIZE_MAX);
  const Curve gate = curve_of("g (float[8] x) => (y) { s = Sigmoid(x)  y = Mul(x, s) }", {-8, 2});
  const Grid u8{8, false, false};
  const Range plain = range_of(h, Method::mse, u8, 0), seen = range_of(h, Method::mse, u8, 0, gate);
  EXPECT_LT(plain.low, -7.5);
  EXPECT_GT(seen.low, -7.5);
  EXPECT_LT(expected_error(h, scale_of(seen, u8), u8, gate), expected_error(h, scale_of(plain, u8), u8, gate));
}

}  // namespace cameo::tests
