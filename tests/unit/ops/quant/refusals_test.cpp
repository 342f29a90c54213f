#include "unit/ops/refusals.h"

namespace cameo::tests {
namespace {

TEST(QuantRefusals, ScalesAndZeroPoints) {
  const Operand five(DType::u8, {5}), four(DType::u8, {4}), one(DType::u8, {});
  const op::QuantizeLinear per_axis{.axis = 1};
  EXPECT_EQ(answer(per_axis, {{2, 5}, {5}, five}), "");
  EXPECT_EQ(answer(per_axis, {{2, 5}, {5}, four}), "infer.mismatch");
  EXPECT_EQ(answer(per_axis, {{2, 5}, {5}, one}), "infer.rank");
  EXPECT_EQ(answer(per_axis, {{2, 5}, {4}}), "infer.mismatch");
  EXPECT_EQ(answer(per_axis, {{2, 5}, {1}, five}), "infer.mismatch");
  EXPECT_EQ(answer(per_axis, {Operand(DType::f32, {}), {5}}), "infer.mismatch");
  EXPECT_EQ(answer(op::QuantizeLinear{.axis = 2}, {{2, 5}, {5}}), "infer.axis");
  EXPECT_EQ(answer(op::QuantizeLinear{.block_size = -1}, {{2, 5}, {2, 5}}), "infer.attribute");
  EXPECT_EQ(answer(op::QuantizeLinear{.axis = 1, .block_size = 2}, {{2, 5}, {2, 2}}), "infer.mismatch");
  EXPECT_EQ(answer(op::QuantizeLinear{.output_dtype = static_cast<int64_t>(DType::string)}, {{2, 5}, {}}),
            "infer.type");
  EXPECT_EQ(answer(op::DequantizeLinear{.output_dtype = static_cast<int64_t>(DType::i64)}, {five, {}}), "infer.type");
}

TEST(QuantRefusals, BlocksOfAnySizeAreCounted) {
  const op::DequantizeLinear all{.axis = 0, .block_size = INT64_MAX};
  const auto out = run_op(all, {Tensor::of<uint8_t>(DType::u8, {2}, std::vector<uint8_t>{1, 2}), f32s({1}, {3})});
  EXPECT_EQ(out[0].tensor.to_doubles(), (std::vector<double>{3, 6}));
}

TEST(QuantRefusals, QLinearMatMul) {
  const auto product = [](Operand a_scale, Operand b_zero, Operand y_scale) {
    const Operand zero(DType::u8, {});
    return answer(op::QLinearMatMul{},
                  {Operand(DType::u8, {2, 3}), a_scale, zero, Operand(DType::u8, {3, 4}), {}, b_zero, y_scale, zero});
  };
  const Operand one(DType::u8, {}), columns(DType::u8, {4}), rows(DType::u8, {2});
  EXPECT_EQ(product({2}, columns, {}), "");
  EXPECT_EQ(product({4}, columns, {}), "infer.broadcast");
  EXPECT_EQ(product({2}, rows, {}), "infer.broadcast");
  EXPECT_EQ(product({}, one, {3}), "infer.broadcast");
}

}  // namespace
}  // namespace cameo::tests
