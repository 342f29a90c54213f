#include <cmath>
#include <limits>

#include "ops/vision/image.h"
#include "unit/ops/refusals.h"

namespace cameo::tests {
namespace {

using Ints = std::vector<int64_t>;

TEST(VisionRefusals, Detection) {
  const op::NonMaxSuppression nms;
  EXPECT_EQ(answer(nms, {{2, 6, 4}, {2, 3, 6}, i64s({}, {1})}), "");
  EXPECT_EQ(answer(nms, {{1, 6, 4}, {2, 3, 6}}), "infer.mismatch");
  EXPECT_EQ(answer(nms, {{2, 6, 4}, {2, 3, 6}, i64s({2}, {1, 2})}), "infer.mismatch");
  const Operand batches(DType::i64, {2}), one(DType::i64, {1});
  EXPECT_EQ(answer(op::RoiAlign{}, {{1, 3, 8, 8}, {2, 4}, batches}), "");
  EXPECT_EQ(answer(op::RoiAlign{}, {{1, 3, 8, 8}, {2, 4}, one}), "infer.mismatch");
  EXPECT_EQ(answer(op::RoiAlign{}, {{1, 3, 0, 8}, {2, 4}, batches}), "infer.mismatch");
  EXPECT_EQ(answer(op::RoiAlign{.output_height = 0}, {{1, 3, 8, 8}, {2, 4}, batches}), "infer.attribute");
  EXPECT_EQ(answer(op::RoiAlign{.sampling_ratio = int64_t{1} << 60}, {{1, 3, 8, 8}, {2, 4}, batches}),
            "infer.attribute");
  EXPECT_EQ(answer(op::MaxRoiPool{.pooled_shape = {2, 0}}, {{1, 3, 8, 8}, {2, 5}}), "infer.attribute");
}

TEST(VisionRefusals, RegionsAreChecked) {
  const Tensor x = f32s({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto align = [&](float right) {
    return code_of([&] { run_op(op::RoiAlign{}, {x, f32s({1, 4}, {0, 0, right, 1}), i64s({1}, {0})}); });
  };
  EXPECT_EQ(align(1), "");
  EXPECT_EQ(align(1e30f), "eval.index");
  EXPECT_EQ(align(std::numeric_limits<float>::quiet_NaN()), "");
  const auto pool = [&](float batch) {
    return code_of([&] { run_op(op::MaxRoiPool{.pooled_shape = {1, 1}}, {x, f32s({1, 5}, {batch, 0, 0, 1, 1})}); });
  };
  EXPECT_EQ(pool(0), "");
  EXPECT_EQ(pool(1), "eval.index");
  EXPECT_EQ(pool(std::numeric_limits<float>::quiet_NaN()), "eval.index");
}

TEST(VisionRefusals, Grids) {
  EXPECT_EQ(answer(op::GridSample{.mode = "wild"}, {{1, 1, 4, 4}, {1, 2, 2, 2}}), "infer.attribute");
  EXPECT_EQ(answer(op::GridSample{.padding_mode = "wild"}, {{1, 1, 4, 4}, {1, 2, 2, 2}}), "infer.attribute");
  EXPECT_EQ(answer(op::GridSample{}, {{1, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 7}}), "infer.rank");
  EXPECT_EQ(answer(op::AffineGrid{}, {{1, 2, 3}, i64s({4}, {1, 1, 2, 2})}), "");
  EXPECT_EQ(answer(op::AffineGrid{}, {{1, 2, 2}, i64s({4}, {1, 1, 2, 2})}), "infer.mismatch");
  EXPECT_EQ(answer(op::AffineGrid{}, {{1, 2, 3}, i64s({4}, {1, 1, -2, 2})}), "infer.shape");
  EXPECT_EQ(answer(op::AffineGrid{}, {{1, 2, 3}, i64s({4}, {1, 1, int64_t{1} << 40, int64_t{1} << 40})}),
            "infer.shape");
}

TEST(VisionRefusals, Resize) {
  const Operand none = Operand::none();
  EXPECT_EQ(answer(op::Resize{}, {{1, 4}, none, f32s({2}, {1, 2})}), "");
  EXPECT_EQ(answer(op::Resize{}, {{1, 4}, none, f32s({2}, {1, std::numeric_limits<float>::infinity()})}),
            "infer.attribute");
  EXPECT_EQ(answer(op::Resize{}, {{1, 4}, none, f32s({2}, {1, 1e30f})}), "value.range");
  EXPECT_EQ(answer(op::Resize{}, {{1, 4}, none, f32s({3}, {1, 2, 2})}), "infer.mismatch");
  EXPECT_EQ(answer(op::Resize{}, {{1, 0}, none, none, i64s({2}, {1, 3})}), "infer.mismatch");
  EXPECT_EQ(answer(op::Resize{}, {{1, 4}, none, none, i64s({2}, {1, -3})}), "infer.shape");
  EXPECT_EQ(answer(op::Resize{}, {{1, 4}, none, none, i64s({1, 2}, {1, 3})}), "infer.rank");
  EXPECT_EQ(answer(op::Resize{.axes = Ints{2}}, {{1, 4}, none, none, i64s({1}, {3})}), "infer.axis");
  EXPECT_EQ(answer(op::Resize{.mode = "wild"}, {{1, 4}, none, f32s({2}, {1, 2})}), "infer.attribute");
  EXPECT_EQ(answer(op::Resize{.antialias = 1}, {{1, 4}, none, f32s({2}, {1, 2})}), "infer.attribute");
  EXPECT_EQ(
      answer(op::Resize{.coordinate_transformation_mode = "tf_crop_and_resize"}, {{1, 4}, {2}, f32s({2}, {1, 2})}),
      "infer.mismatch");
  EXPECT_EQ(
      answer(op::Resize{.axes = Ints{}, .keep_aspect_ratio_policy = "not_larger"}, {{1, 4}, none, none, i64s({0}, {})}),
      "infer.input");
}

TEST(VisionRefusals, ResizedSizesAreChecked) {
  const auto by = [](float scale) {
    return code_of([&] { run_op(op::Resize{}, {f32s({1, 4}, {1, 2, 3, 4}), {}, f32s({2}, {1, scale})}); });
  };
  EXPECT_EQ(by(2), "");
  EXPECT_EQ(by(1e30f), "value.range");
  EXPECT_EQ(by(std::numeric_limits<float>::quiet_NaN()), "value.range");
  EXPECT_EQ(by(-1), "value.range");
}

TEST(VisionRefusals, WhatShrinksIsResizedFirst) {
  // Growing the first axis first would take 2^34 elements between.
  const Tensor x = zeros(DType::f32, {1, int64_t{1} << 17});
  const auto out = run_op(op::Resize{.mode = "linear"}, {x, {}, {}, i64s({2}, {int64_t{1} << 17, 1})});
  EXPECT_EQ(out[0].tensor.shape(), (Ints{int64_t{1} << 17, 1}));
}

TEST(VisionRefusals, ImagesCannotBeLargerThanTheirBytesTell) {
  EXPECT_TRUE(is_sane_image(1000, 1000, 10));
  EXPECT_FALSE(is_sane_image(16384, 16384, 100));
  EXPECT_TRUE(is_sane_image(16384, 16384, 1 << 20));
  EXPECT_FALSE(decode_pnm("P6 16384 16384 255\nxyz").has_value());
}

}  // namespace
}  // namespace cameo::tests
