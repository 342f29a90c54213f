#include "quant/calibrate/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cameo::tests {

using quant::Histogram;

std::vector<float> normal(size_t count, float deviation, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> out;
  // Sums of twelve uniform numbers: the same on every machine.
  for (size_t i = 0; i < count; ++i) {
    float sum = -6;
    for (int k = 0; k < 12; ++k) sum += static_cast<float>(engine() >> 8) / 16777216.0f;
    out.push_back(sum * deviation);
  }
  return out;
}

TEST(Histogram, CountsAndExtremes) {
  Histogram h;
  EXPECT_TRUE(h.empty());
  const std::vector<float> x{-2, -0.5f, 0, 0, 1, 3};
  h.add(x);
  EXPECT_EQ(h.seen(), 6u);
  EXPECT_EQ(h.min(), -2);
  EXPECT_EQ(h.max(), 3);
  EXPECT_EQ(h.total(), 6);
  const auto bins = h.bins();
  ASSERT_EQ(bins.size(), 5u);
  for (size_t i = 1; i < bins.size(); ++i) EXPECT_LE(bins[i - 1].high, bins[i].low);
  EXPECT_EQ(bins[2].count, 2);  // the zeros
}

TEST(Histogram, BinsAreNarrow) {
  Histogram h;
  h.add(std::vector<float>{0.1f, 17.3f});
  for (const auto& b : h.bins()) EXPECT_LE(b.high - b.low, b.high / 16);
}

TEST(Histogram, MergingIsAddingTogether) {
  const auto a = normal(5000, 1, 1), b = normal(3000, 20, 2);
  Histogram first, second, both;
  first.add(a), second.add(b), both.add(a), both.add(b);
  first.merge(second);
  EXPECT_EQ(first.min(), both.min());
  EXPECT_EQ(first.max(), both.max());
  EXPECT_EQ(first.seen(), both.seen());
  const auto x = first.bins(), y = both.bins();
  ASSERT_EQ(x.size(), y.size());
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i].count, y[i].count);
  Histogram empty;
  empty.merge(both);
  EXPECT_EQ(empty.min(), both.min());
}

TEST(Histogram, StrangeNumbersAreSetAside) {
  Histogram h;
  h.add(std::vector<float>{NAN, INFINITY, -INFINITY});
  EXPECT_TRUE(h.empty());
  h.add(std::vector<float>{1, NAN, 2, INFINITY});
  EXPECT_EQ(h.min(), 1);
  EXPECT_EQ(h.max(), 2);
  EXPECT_EQ(h.seen(), 2u);
  EXPECT_EQ(h.strange(), 5u);
}

TEST(Histogram, LargeAndTinyNumbers) {
  Histogram h;
  h.add(std::vector<float>{1e30f, -1e-30f, 1e-30f});
  EXPECT_EQ(h.max(), 1e30f);
  EXPECT_EQ(h.bins().back().high, static_cast<double>(1e30f));
  EXPECT_EQ(h.total(), 3);
}

TEST(Histogram, ManyNumbersAreSelectedEvenly) {
  const auto x = normal(100000, 1, 3);
  Histogram all, some;
  all.add(x, x.size());
  some.add(x, 1000);
  EXPECT_EQ(all.max(), some.max());
  EXPECT_LT(some.total(), 2100);
  const auto middle = [](const Histogram& h) {
    double below = 0;
    for (const auto& b : h.bins()) below += b.high <= 0 ? b.count : 0;
    return below / h.total();
  };
  EXPECT_NEAR(middle(all), middle(some), 0.05);
}

}  // namespace cameo::tests
