#include "quant/calibrate/range.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cameo::tests {

using namespace quant;

constexpr Grid u8{8, false, false}, i8{8, true, true};

TEST(Scale, CoversTheRangeAndZero) {
  const Scale s = scale_of({-1, 3}, u8);
  EXPECT_NEAR(s.scale, 4.0 / 255, 1e-6);
  EXPECT_EQ(s.zero, 64);
  const Scale positive = scale_of({2, 5}, u8);  // padding is zero
  EXPECT_EQ(positive.zero, 0);
  EXPECT_NEAR(positive.scale, 5.0 / 255, 1e-6);
  const Scale negative = scale_of({-5, -2}, u8);
  EXPECT_EQ(negative.zero, 255);
}

TEST(Scale, SymmetricHasZeroPointZero) {
  const Scale s = scale_of({-1, 2.54}, i8);
  EXPECT_EQ(s.zero, 0);
  EXPECT_NEAR(s.scale, 0.02, 1e-6);
  EXPECT_EQ(least_level(i8), -127);
}

TEST(Scale, OfNothingIsOne) {
  for (const Grid& g : {u8, i8}) {
    EXPECT_EQ(scale_of({0, 0}, g).scale, 1);
    EXPECT_GT(scale_of({0, 1e-40}, g).scale, 0);
    EXPECT_TRUE(std::isfinite(scale_of({-1e38, 1e38}, g).scale));
  }
}

Histogram with_outlier() {
  std::vector<float> x;
  for (int i = 0; i < 20000; ++i) x.push_back(static_cast<float>(i % 1000) / 1000);
  x.push_back(50);
  Histogram h;
  h.add(x, SIZE_MAX);
  return h;
}

TEST(Range, MethodsAndAnOutlier) {
  const Histogram h = with_outlier();
  EXPECT_EQ(range_of(h, Method::minmax, u8, 0).high, 50);
  EXPECT_LT(range_of(h, Method::percentile, u8, 99.9).high, 1.1);
  EXPECT_LT(range_of(h, Method::entropy, u8, 0).high, 50);
  const Range mse = range_of(h, Method::mse, u8, 0);
  const auto error = [&](const Range& r) { return expected_error(h, scale_of(r, u8), u8); };
  for (const Method m : {Method::minmax, Method::percentile, Method::entropy})
    EXPECT_LE(error(mse), error(range_of(h, m, u8, 99.999)) * 1.0001);
}

TEST(Range, OfAnEmptyOrConstantValue) {
  Histogram empty, zeros;
  zeros.add(std::vector<float>(100, 0.0f));
  for (const Method m : {Method::minmax, Method::percentile, Method::entropy, Method::mse}) {
    EXPECT_EQ(range_of(empty, m, u8, 99), Range());
    EXPECT_EQ(range_of(zeros, m, u8, 99), Range());
  }
}

TEST(Range, ErrorIsThatOfRounding) {
  Histogram h;
  std::vector<float> x;
  for (int i = 0; i < 100000; ++i) x.push_back(static_cast<float>(i) / 100000);
  h.add(x, SIZE_MAX);
  const Scale s = scale_of({0, 1}, u8);
  double exact = 0;
  for (const float v : x) {
    const double q = std::nearbyint(static_cast<double>(v) / s.scale) * s.scale;
    exact += (q - static_cast<double>(v)) * (q - static_cast<double>(v));
  }
  EXPECT_NEAR(expected_error(h, s, u8) / (exact / 100000), 1, 0.1);
}

}  // namespace cameo::tests
