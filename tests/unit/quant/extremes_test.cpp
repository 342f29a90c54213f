#include "quant/calibrate/extremes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace cameo::tests {

using namespace quant;

TEST(Extremes, EqualSamplesNeedNoMargin) {
  Extremes e;
  for (int i = 0; i < 8; ++i) e.add({-1, 3});
  EXPECT_NEAR(e.expected().low, -1, 1e-9);
  EXPECT_NEAR(e.expected().high, 3, 1e-9);
}

TEST(Extremes, OneSampleSaysNothingOfOthers) {
  Extremes e;
  e.add({-2, 5});
  EXPECT_EQ(e.expected(), (Range{-2, 5}));
}

TEST(Extremes, NothingGoesBeyondZeroThatNeverDid) {
  Extremes e;
  for (int i = 1; i < 9; ++i) e.add({0, static_cast<double>(i)});
  EXPECT_EQ(e.expected().low, 0);
  EXPECT_GT(e.expected().high, 8);
  EXPECT_LE(e.expected().high, 16);
}

// The largest of 200 numbers per sample: what 16 samples let expect holds for most of 256 others.
TEST(Extremes, CoversMostSamplesThatWereNotSeen) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  const auto sample = [&] {
    Range r;
    for (int i = 0; i < 200; ++i) {
      const double x = normal(random);
      r.low = std::min(r.low, x), r.high = std::max(r.high, x);
    }
    return r;
  };
  int beyond = 0, beyond_seen = 0;
  for (int round = 0; round < 50; ++round) {
    Extremes even, odd;
    Range seen;
    for (int i = 0; i < 16; ++i) {
      const Range r = sample();
      seen = joined(seen, r);
      (i % 2 ? odd : even).add(r);
    }
    even.merge(odd);
    const Range expected = even.expected();
    for (int i = 0; i < 256; ++i) {
      const double high = sample().high;
      beyond += high > expected.high, beyond_seen += high > seen.high;
    }
  }
  EXPECT_LT(beyond, 50 * 256 / 40);
  EXPECT_LT(beyond * 3, beyond_seen);
}

}  // namespace cameo::tests
