// Numbers whose squares and sums leave the range of f32: fast kernels give what the reference computes in double.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/session.h"
#include "runtime/reference.h"
#include "unit/engine/models.h"

namespace cameo::tests {
namespace {

struct Case {
  const char* name;
  const char* text;
};
class LargeNumbers : public testing::TestWithParam<Case> {};

void expect_near(const Tensor& got, const Tensor& wanted, double factor) {
  ASSERT_EQ(got.shape(), wanted.shape());
  const Loaded<float> a(got), b(wanted);
  double largest = 0;
  for (const float x : b.span())
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(static_cast<double>(x)));
  for (int64_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(b[i]))
      EXPECT_NEAR(static_cast<double>(a[i]), static_cast<double>(b[i]), 1e-3 * largest)
          << "element " << i << " of numbers times " << factor;
    else EXPECT_EQ(std::isnan(a[i]), std::isnan(b[i])) << "element " << i << " of numbers times " << factor;
  }
}

TEST_P(LargeNumbers, AreComputedAsByTheReference) {
  const Model m = model_of(GetParam().text);
  for (const double factor : {1.0, 1e20, 1e37, 6e38, 1e-21, 1e-30}) {
    std::vector<Datum> in = random_inputs(m.graph, run_inputs(m.graph), 7);
    for (Datum& d : in) d = stretched(d, factor, 7);
    const auto wanted = run_reference(m, in);
    for (const bool onednn : {true, false}) {
      SessionOptions o;
      o.onednn = onednn;
      expect_near(Session(m, o).run(in)[0].tensor, wanted[0].tensor, factor);
    }
  }
}

// The quotient of two scales is infinite, and 0 times it no number.
TEST(LargeNumbers, BytesWithScalesFarApart) {
  for (const char* op : {"Add", "Mul"})
    for (const char* shape : {"2,70", "70"}) {
      const std::string text = cat("g (uint8[2,70] a, uint8[", shape,
                                   "] b) => (y) <float s = {3e38}, float t = {1e-38}, uint8 z = {0}> { d = "
                                   "DequantizeLinear(a, s, z) e = DequantizeLinear(b, s, z) f = ",
                                   op, "(d, e) y = QuantizeLinear(f, t, z) }");
      const Model m = model_of(text.c_str());
      const auto in = random_inputs(m.graph, run_inputs(m.graph), 3);
      EXPECT_EQ(Session(m).run(in)[0].tensor.to_ints(), run_reference(m, in)[0].tensor.to_ints()) << op << shape;
    }
}

const Case cases[] = {
    {"LayerNormalization",
     "g (float[3,40] x, float[40] w) => (float[3,40] y) { y = LayerNormalization<epsilon=0.0>(x, w) }"},
    {"RMSNormalization",
     "g (float[3,40] x, float[40] w) => (float[3,40] y) { y = RMSNormalization<epsilon=0.0>(x, w) }"},
    {"GroupNormalization",
     "g (float[2,4,9] x, float[4] w, float[4] wb) => (float[2,4,9] y) { y = GroupNormalization<epsilon=0.0, "
     "num_groups=2>(x, w, wb) }"},
    {"InstanceNormalization",
     "g (float[2,4,9] x, float[4] w, float[4] wb) => (float[2,4,9] y) { y = InstanceNormalization<epsilon=0.0>(x, w, "
     "wb) }"},
    {"MeanOfRows", "g (float[3,40] x) => (float[3,1] y) <int64[1] a = {1}> { y = ReduceMean(x, a) }"},
    {"MeanOfColumns", "g (float[40,300] x) => (float[1,300] y) <int64[1] a = {0}> { y = ReduceMean(x, a) }"},
    {"SumOfRows", "g (float[3,40] x) => (float[3,1] y) <int64[1] a = {1}> { y = ReduceSum(x, a) }"},
    {"SumOfColumns", "g (float[40,300] x) => (float[1,300] y) <int64[1] a = {0}> { y = ReduceSum(x, a) }"},
};
INSTANTIATE_TEST_SUITE_P(All, LargeNumbers, testing::ValuesIn(cases),
                         [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace cameo::tests
