#include "runtime/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/watch.h"

namespace cameo::tests {
namespace {

Datum floats(std::vector<float> v) { return Tensor::of<float>(DType::f32, {static_cast<int64_t>(v.size())}, v); }
Datum ints(std::vector<int64_t> v) { return Tensor::ints(v); }

TEST(Compare, FloatsWithinTheirTolerance) {
  EXPECT_TRUE(compare(floats({1, 2}), floats({1, 2.00001f})).same);
  const Comparison c = compare(floats({1, 2, 3}), floats({1, 2.5f, 3.5f}));
  EXPECT_FALSE(c.same);
  EXPECT_EQ(c.differing, 2);
  EXPECT_EQ(c.why, "element [1] is 2, and 2.5 is wanted (2 of 3 elements differ, by at most 0.5)");
  EXPECT_TRUE(compare(floats({1}), floats({2}), {.rtol = 0, .atol = 1}).same);
}

TEST(Compare, AnotherProgramMayRoundOtherwise) {
  const Tolerance other{.other_program = true};
  EXPECT_FALSE(compare(floats({0, 1000}), floats({0.005f, 1000})).same);
  EXPECT_TRUE(compare(floats({0, 1000}), floats({0.005f, 1000}), other).same);
  EXPECT_FALSE(compare(floats({0, 1000}), floats({0.05f, 1000}), other).same);
  EXPECT_EQ(compare(floats({0, 1000}), floats({0, -1000}), other).largest, 1000);
  EXPECT_FALSE(compare(floats({2e-7f, 1e-7f}), floats({1e-7f, 1e-7f}), other).same);  // tiny numbers as others
  EXPECT_TRUE(compare(floats({2e-7f, 1e-4f}), floats({1e-7f, 1e-4f}), other).same);
  EXPECT_TRUE(compare(floats({2e-7f}), floats({1e-7f}), {.atol = 1e-5, .other_program = true}).same);
  EXPECT_TRUE(compare(floats({1e-7f}), floats({0}), other).same);  // there is no scale
  EXPECT_TRUE(compare(floats({NAN}), floats({0}), other).unbounded);
  EXPECT_FALSE(compare(floats({1}), floats({0}), other).unbounded);
}

TEST(Compare, NanAndInfinity) {
  EXPECT_TRUE(compare(floats({NAN, INFINITY}), floats({NAN, INFINITY})).same);
  EXPECT_FALSE(compare(floats({INFINITY}), floats({-INFINITY})).same);
  EXPECT_FALSE(compare(floats({NAN}), floats({0})).same);
}

TEST(Compare, IntegersMustBeEqual) {
  EXPECT_TRUE(compare(ints({1, 2}), ints({1, 2})).same);
  EXPECT_FALSE(compare(ints({1, 2}), ints({1, 3}), {.rtol = 1, .atol = 10}).same);
}

TEST(Compare, KindsAndShapes) {
  EXPECT_FALSE(compare(floats({1}), ints({1})).same);
  EXPECT_FALSE(compare(floats({1}), floats({1, 1})).same);
  EXPECT_FALSE(compare(floats({1}), Datum()).same);
  EXPECT_TRUE(compare(Datum::sequence({floats({1})}), Datum::sequence({floats({1})})).same);
  EXPECT_FALSE(compare(Datum::sequence({floats({1})}), Datum::sequence({})).same);
}

TEST(Watch, Patterns) {
  EXPECT_TRUE(matches("layer1.conv", "layer*.conv"));
  EXPECT_TRUE(matches("abc", "a?c"));
  EXPECT_TRUE(matches("", "*"));
  EXPECT_FALSE(matches("abc", "ab"));
  EXPECT_TRUE(matches("a*b", "a*b"));
  EXPECT_FALSE(matches("ab", "a??"));
}

}  // namespace
}  // namespace cameo::tests
