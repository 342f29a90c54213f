#include "unit/ops/refusals.h"

namespace cameo::tests {
namespace {

TEST(SignalRefusals, Transforms) {
  const op::DFT plain;
  EXPECT_EQ(answer(plain, {{2, 8, 1}, i64s({}, {5}), i64s({}, {1})}), "");
  EXPECT_EQ(answer(plain, {{2, 8, 3}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{2, 8, 1}, i64s({}, {0})}), "infer.attribute");
  EXPECT_EQ(answer(plain, {{2, 8, 1}, i64s({}, {int64_t{1} << 40})}), "infer.attribute");
  EXPECT_EQ(answer(plain, {{2, 8, 1}, i64s({2}, {5, 5})}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{2, 8, 1}, Operand::none(), i64s({0}, {})}), "infer.mismatch");
  EXPECT_EQ(answer(op::DFT{.inverse = 1, .onesided = 1}, {{2, 1, 2}}), "infer.attribute");
}

TEST(SignalRefusals, Frames) {
  const op::STFT plain;
  EXPECT_EQ(answer(plain, {{1, 16, 1}, i64s({}, {4}), {8}, i64s({}, {8})}), "");
  EXPECT_EQ(answer(plain, {{1, 16, 3}, i64s({}, {4}), {8}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 16, 1}, i64s({}, {0}), {8}}), "infer.attribute");
  EXPECT_EQ(answer(plain, {{1, 16, 1}, i64s({}, {4}), {17}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 16, 1}, i64s({}, {4}), {8}, i64s({}, {9})}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 16, 1}, i64s({2}, {4, 4}), {8}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 16, 1}, i64s({}, {4}), Operand(DType::f32, {})}), "infer.rank");
}

}  // namespace
}  // namespace cameo::tests
