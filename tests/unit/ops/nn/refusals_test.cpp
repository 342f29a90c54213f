// What the shape rules of convolutions, pools, normalisations, recurrent and attention operators do not accept: kernels
// rely on it.
#include "unit/ops/refusals.h"

namespace cameo::tests {
namespace {

using Ints = std::vector<int64_t>;
constexpr int64_t huge = int64_t{1} << 40;

TEST(NnRefusals, Conv) {
  const op::Conv plain;
  EXPECT_EQ(answer(plain, {{1, 3, 8, 8}, {4, 3, 3, 3}, {4}}), "");
  EXPECT_EQ(answer(plain, {{1, 3, 8, 8}, {4, 3, 3, 3}, {3}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 3, 8, 8}, {4, 3, 3, 3}, {4, 1}}), "infer.rank");
  EXPECT_EQ(answer(plain, {{1, 3}, {4, 3}}), "infer.rank");
  EXPECT_EQ(answer(plain, {{1, 3, 8, 8}, {4, 3, 0, 3}}), "infer.attribute");
  EXPECT_EQ(answer(op::Conv{.group = 0}, {{1, 3, 8, 8}, {4, 3, 3, 3}}), "infer.attribute");
  EXPECT_EQ(answer(op::Conv{.group = 2}, {{1, 4, 8}, {3, 2, 3}}), "infer.mismatch");
  EXPECT_EQ(answer(op::Conv{.kernel_shape = Ints{3, 2}}, {{1, 3, 8, 8}, {4, 3, 3, 3}}), "infer.mismatch");
  EXPECT_EQ(answer(op::Conv{.kernel_shape = Ints{3}}, {{1, 3, 8, 8}, {4, 3, 3, 3}}), "infer.attribute");
  EXPECT_EQ(answer(op::Conv{.auto_pad = "SAME_UPPER", .dilations = Ints{int64_t{1} << 31}}, {{1, 1, 4}, {1, 1, 9}}),
            "infer.attribute");
  EXPECT_EQ(answer(op::Conv{.pads = Ints{0, -9}}, {{1, 1, 4}, {1, 1, 3}}), "infer.attribute");
  EXPECT_EQ(answer(plain, {{1, 1, 2}, {1, 1, 4}}), "infer.mismatch");
}

TEST(NnRefusals, ConvolutionsOfBytes) {
  const Operand x(DType::u8, {1, 2, 5}), w(DType::u8, {3, 2, 2}), one(DType::u8, {}), three(DType::u8, {3}),
      two(DType::u8, {2});
  EXPECT_EQ(answer(op::ConvInteger{}, {x, w, one, three}), "");
  EXPECT_EQ(answer(op::ConvInteger{}, {x, w, two}), "infer.mismatch");
  EXPECT_EQ(answer(op::ConvInteger{}, {x, w, one, two}), "infer.mismatch");
  const auto linear = [&](Operand x_scale, Operand w_scale, Operand w_zero, Operand y_zero, Operand bias) {
    return answer(op::QLinearConv{}, {x, x_scale, one, w, w_scale, w_zero, {}, y_zero, bias});
  };
  const Operand bias(DType::i32, {3}), short_bias(DType::i32, {1});
  EXPECT_EQ(linear({}, {3}, three, one, bias), "");
  EXPECT_EQ(linear({}, {3}, three, one, short_bias), "infer.mismatch");
  EXPECT_EQ(linear({2}, {3}, three, one, bias), "infer.mismatch");
  EXPECT_EQ(linear({}, {2}, three, one, bias), "infer.mismatch");
  EXPECT_EQ(linear({}, {3}, two, one, bias), "infer.mismatch");
  EXPECT_EQ(linear({}, {3}, three, three, bias), "infer.mismatch");
}

TEST(NnRefusals, ConvTranspose) {
  EXPECT_EQ(answer(op::ConvTranspose{.group = 2}, {{1, 4, 5}, {4, 3, 2}, {6}}), "");
  EXPECT_EQ(answer(op::ConvTranspose{.group = 2}, {{1, 4, 5}, {4, 3, 2}, {3}}), "infer.mismatch");
  EXPECT_EQ(answer(op::ConvTranspose{.group = 3}, {{1, 4, 5}, {4, 3, 2}}), "infer.mismatch");
  EXPECT_EQ(answer(op::ConvTranspose{.group = huge}, {{1, 0, 5}, {0, 3, 2}}), "infer.mismatch");
  EXPECT_EQ(answer(op::ConvTranspose{.kernel_shape = Ints{3}}, {{1, 4, 5}, {4, 3, 2}}), "infer.mismatch");
  EXPECT_EQ(answer(op::ConvTranspose{.output_padding = Ints{-1}}, {{1, 4, 5}, {4, 3, 2}}), "infer.attribute");
  EXPECT_EQ(answer(op::ConvTranspose{.output_shape = Ints{10, int64_t{1} << 62}}, {{1, 1, 3, 3}, {1, 2, 3, 3}}),
            "infer.shape");
}

TEST(NnRefusals, DeformConv) {
  const op::DeformConv plain;
  EXPECT_EQ(answer(plain, {{1, 2, 4, 4}, {3, 2, 2, 2}, {1, 8, 3, 3}, {3}, {1, 4, 3, 3}}), "");
  EXPECT_EQ(answer(plain, {{1, 2, 4, 4}, {3, 2, 2, 2}, {1, 8, 3, 3}, {2}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 2, 4, 4}, {3, 2, 2, 2}, {2, 8, 3, 3}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 2, 4, 4}, {3, 2, 2, 2}, {1, 8, 3, 3}, {3}, {1, 4, 3, 2}}), "infer.mismatch");
  EXPECT_EQ(answer(op::DeformConv{.offset_group = 3}, {{1, 2, 4, 4}, {3, 2, 2, 2}, {1, 24, 3, 3}}), "infer.mismatch");
  EXPECT_EQ(answer(plain, {{1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1}, {1, 5, 1, 1, 1, 1, 1}}), "infer.rank");
}

TEST(NnRefusals, Pools) {
  EXPECT_EQ(answer(op::MaxPool{.kernel_shape = {0}}, {{1, 1, 4}}), "infer.attribute");
  EXPECT_EQ(answer(op::MaxPool{.auto_pad = "SAME_UPPER", .kernel_shape = {huge}}, {{1, 1, 4}}), "infer.attribute");
  EXPECT_EQ(answer(op::AveragePool{.kernel_shape = {2, 2}}, {{1, 1, 4}}), "infer.attribute");
  EXPECT_EQ(answer(op::LpPool{.kernel_shape = {2}, .strides = Ints{0}}, {{1, 1, 4}}), "infer.attribute");
  const op::MaxUnpool undo{.kernel_shape = {2}, .strides = Ints{2}};
  const Operand three(DType::i64, {1, 1, 3}), two(DType::i64, {1, 1, 2});
  EXPECT_EQ(answer(undo, {{1, 1, 3}, three}), "");
  EXPECT_EQ(answer(undo, {{1, 1, 3}, two}), "infer.mismatch");
  EXPECT_EQ(answer(undo, {{1, 1, 3}, three, i64s({2}, {1, 6})}), "infer.mismatch");
  EXPECT_EQ(answer(undo, {{1, 1, 3}, three, i64s({3}, {1, 1, -6})}), "infer.shape");
}

TEST(NnRefusals, EmptyWindowsHaveAnIndexAll) {
  const op::MaxPool pool{.kernel_shape = {1}, .pads = Ints{1, 1}, .storage_order = 1};
  const auto out = run_op(pool, {zeros(DType::f32, {1, 1, 0})}, 2);
  EXPECT_EQ(out[1].tensor.to_ints(), (Ints{0, 0}));
}

TEST(NnRefusals, Normalisations) {
  EXPECT_EQ(answer(op::BatchNormalization{}, {{1, 8, 2}, {8}, {1}, {1}, {1}}), "infer.mismatch");
  EXPECT_EQ(answer(op::BatchNormalization{}, {Operand(DType::f32, {}), {1}, {1}, {1}, {1}}), "infer.rank");
  EXPECT_EQ(answer(op::LayerNormalization{}, {{2, 1}, {2, 5}}), "infer.broadcast");
  EXPECT_EQ(answer(op::LayerNormalization{}, {{2, 4}, {4}, {3}}), "infer.broadcast");
  EXPECT_EQ(answer(op::RMSNormalization{}, {{2, 4}, {1, 2, 4}}), "infer.broadcast");
  EXPECT_EQ(answer(op::RMSNormalization{.axis = 2}, {{2, 4}, {4}}), "infer.axis");
  EXPECT_EQ(answer(op::GroupNormalization{.num_groups = 0}, {{1, 4, 2}, {4}, {4}}), "infer.attribute");
  EXPECT_EQ(answer(op::InstanceNormalization{}, {{1, 4, 2}, {4}, {2}}), "infer.mismatch");
}

TEST(NnRefusals, RecurrentOperands) {
  const auto lstm = [](std::vector<Operand> more, op::LSTM a = {.hidden_size = 6}) {
    std::vector<Operand> all{{3, 2, 4}, {1, 24, 4}, {1, 24, 6}};
    all.insert(all.end(), more.begin(), more.end());
    return answer(a, all);
  };
  const Operand none = Operand::none(), lengths(DType::i32, {2}), wrong(DType::i32, {3});
  EXPECT_EQ(lstm({{1, 48}, lengths, {1, 2, 6}, {1, 2, 6}, {1, 18}}), "");
  EXPECT_EQ(lstm({{1, 3}}), "infer.mismatch");
  EXPECT_EQ(lstm({{48}}), "infer.rank");
  EXPECT_EQ(lstm({none, wrong}), "infer.mismatch");
  EXPECT_EQ(lstm({none, none, {1, 3, 6}}), "infer.mismatch");
  EXPECT_EQ(lstm({none, none, none, {2, 2, 6}}), "infer.mismatch");
  EXPECT_EQ(lstm({none, none, none, none, {1, 6}}), "infer.mismatch");
  EXPECT_EQ(lstm({}, {.hidden_size = 5}), "infer.mismatch");
  EXPECT_EQ(lstm({}, {.activations = std::vector<std::string>{"Tanh"}, .hidden_size = 6}), "infer.attribute");
  EXPECT_EQ(lstm({}, {.activations = std::vector<std::string>{"Tanh", "Tanh", "Sine"}, .hidden_size = 6}),
            "infer.attribute");
  EXPECT_EQ(lstm({}, {.clip = -1.0f, .hidden_size = 6}), "infer.attribute");
  EXPECT_EQ(answer(op::GRU{.hidden_size = 6}, {{3, 2, 4}, {1, 18, 4}, {1, 17, 6}}), "infer.mismatch");
  EXPECT_EQ(answer(op::RNN{.direction = "bidirectional", .hidden_size = 6}, {{3, 2, 4}, {2, 6, 4}, {1, 6, 6}}),
            "infer.mismatch");
}

TEST(NnRefusals, Attention) {
  const op::Attention packed{.kv_num_heads = 1, .q_num_heads = 3}, split;
  EXPECT_EQ(answer(packed, {{2, 4, 24}, {2, 6, 24}, {2, 6, 30}}), "infer.mismatch");
  EXPECT_EQ(answer(op::Attention{.kv_num_heads = 0, .q_num_heads = 3}, {{2, 4, 24}, {2, 6, 8}, {2, 6, 30}}),
            "infer.attribute");
  EXPECT_EQ(answer(op::Attention{.kv_num_heads = 3, .q_num_heads = 3}, {{2, 4, 25}, {2, 6, 25}, {2, 6, 30}}),
            "infer.mismatch");
  EXPECT_EQ(answer(split, {{2, 4, 5, 8}, {2, 2, 6, 8}, {2, 2, 6, 8}, {5, 6}}), "");
  EXPECT_EQ(answer(split, {{2, 4, 5, 8}, {2, 2, 6, 8}, {2, 1, 6, 8}}), "infer.mismatch");
  EXPECT_EQ(answer(split, {{2, 4, 5, 8}, {1, 2, 6, 8}, {2, 2, 6, 8}}), "infer.mismatch");
  EXPECT_EQ(answer(split, {{2, 4, 5, 8}, {2, 0, 6, 8}, {2, 0, 6, 8}}), "infer.mismatch");
  EXPECT_EQ(answer(split, {{2, 4, 5, 8}, {2, 2, 6, 8}, {2, 2, 6, 8}, {5, 7}}), "infer.mismatch");
  EXPECT_EQ(answer(split, {{2, 4, 5, 8}, {2, 2, 6, 8}, {2, 2, 6, 8}, {4, 6}}), "infer.broadcast");
  EXPECT_EQ(answer(split, {{2, 4, 5, 8}, {2, 2, 6, 8}, {2, 2, 6, 8}, Operand::none(), {2, 2, 3, 8}, {2, 2, 4, 8}}, 3),
            "infer.mismatch");
  const Operand lengths(DType::i64, {3});
  EXPECT_EQ(
      answer(split,
             {{2, 4, 5, 8}, {2, 2, 6, 8}, {2, 2, 6, 8}, Operand::none(), Operand::none(), Operand::none(), lengths}),
      "infer.mismatch");
  EXPECT_EQ(answer(op::FlexAttention{}, {{2, 4, 5, 8}, {2, 3, 6, 8}, {2, 3, 6, 8}}), "infer.mismatch");
}

TEST(NnRefusals, AttentionLengthsAreChecked) {
  const Tensor q = zeros(DType::f32, {1, 1, 2, 1});
  const auto with = [&](int64_t length) {
    return code_of([&] { run_op(op::Attention{}, {q, q, q, {}, {}, {}, i64s({1}, {length})}); });
  };
  EXPECT_EQ(with(2), "");
  EXPECT_EQ(with(3), "eval.index");
  EXPECT_EQ(with(INT64_MIN), "eval.index");
}

TEST(NnRefusals, ConstantsOfForeignTypesAreNotFolded) {
  const Tensor q = zeros(DType::u4, {1, 1, 2, 2}), k = zeros(DType::f32, {1, 1, 2, 2});
  EXPECT_EQ(answer(op::Attention{}, {q, k, k}), "");
}

TEST(NnRefusals, StatefulAttention) {
  const op::LinearAttention gated{.kv_num_heads = 2, .q_num_heads = 4, .update_rule = "gated"};
  EXPECT_EQ(answer(gated, {{1, 3, 8}, {1, 3, 4}, {1, 3, 6}, {1, 2, 2, 3}, {1, 3, 2}}, 2), "");
  EXPECT_EQ(answer(gated, {{1, 3, 8}, {1, 3, 4}, {1, 3, 6}, {1, 2, 3, 2}, {1, 3, 2}}, 2), "infer.mismatch");
  EXPECT_EQ(answer(gated, {{1, 3, 8}, {1, 3, 4}, {1, 3, 6}, Operand::none(), {1, 3, 3}}, 2), "infer.mismatch");
  EXPECT_EQ(answer(gated, {{1, 3, 8}, {1, 2, 4}, {1, 3, 6}, Operand::none(), {1, 3, 2}}, 2), "infer.mismatch");
  const op::CausalConvWithState conv;
  EXPECT_EQ(answer(conv, {{1, 3, 5}, {3, 1, 2}, {3}, {1, 3, 1}}, 2), "");
  EXPECT_EQ(answer(conv, {{1, 3, 5}, {3, 1, 2}, {2}}, 2), "infer.mismatch");
  EXPECT_EQ(answer(conv, {{1, 3, 5}, {3, 1, 2}, {3}, {1, 3, 2}}, 2), "infer.mismatch");
  EXPECT_EQ(answer(conv, {{1, 3, 5}, {3, 1, 0}}, 2), "infer.mismatch");
}

TEST(NnRefusals, RotaryEmbedding) {
  const Operand positions(DType::i64, {2, 3}), wrong(DType::i64, {3, 2});
  EXPECT_EQ(answer(op::RotaryEmbedding{}, {{2, 4, 3, 8}, {50, 4}, {50, 4}, positions}), "");
  EXPECT_EQ(answer(op::RotaryEmbedding{}, {{2, 4, 3, 8}, {50, 4}, {50, 4}, wrong}), "infer.mismatch");
  EXPECT_EQ(answer(op::RotaryEmbedding{}, {{2, 4, 3, 8}, {50, 4}, {49, 4}, positions}), "infer.mismatch");
  EXPECT_EQ(answer(op::RotaryEmbedding{}, {{2, 4, 3, 8}, {50, 8}, {50, 8}, positions}), "infer.mismatch");
  EXPECT_EQ(answer(op::RotaryEmbedding{}, {{2, 4, 3, 8}, {50, 4}, {50, 4}}), "infer.rank");
  EXPECT_EQ(answer(op::RotaryEmbedding{.rotary_embedding_dim = 16}, {{2, 4, 3, 8}, {50, 8}, {50, 8}, positions}),
            "infer.attribute");
  EXPECT_EQ(answer(op::RotaryEmbedding{.num_heads = 3}, {{2, 3, 32}, {50, 4}, {50, 4}, positions}), "infer.mismatch");
}

}  // namespace
}  // namespace cameo::tests
