#include <gtest/gtest.h>

#include "kernels/carrier.h"
#include "ops/on.h"

namespace cameo::tests {
namespace {

struct SequenceTest : testing::Test {
  Graph g;
  On on{g, g.main()};
  ValueId input(const std::vector<std::string>& dims) {
    Shape s;
    for (const auto& d : dims) s.push_back(parse_dim(g.dims(), d));
    return g.add_input(g.main(), "x", Type::tensor(DType::f32, s));
  }
  ValueId weight(std::vector<int64_t> shape) { return g.add_constant(zeros(DType::f32, std::move(shape))); }
  ValueId floats(std::vector<int64_t> shape, std::vector<float> v) {
    return g.add_constant(store(DType::f32, std::move(shape), v));
  }
  std::string shape(ValueId v) { return shape_text(on.shape(v)); }
  std::vector<double> values(ValueId v) { return on.fact(v).tensor()->to_doubles(); }
};

TEST_F(SequenceTest, PackedHeadsAndACache) {
  const ValueId q = input({"b", "s", "32"}), k = input({"b", "s", "16"}), v = input({"b", "s", "8"});
  const ValueId past_k = input({"b", "4", "p", "4"}), past_v = input({"b", "4", "p", "2"});
  const auto out = on.Attention(q, k, v, 4, {}, past_k, past_v, {}, {.kv_num_heads = 4, .q_num_heads = 8});
  EXPECT_EQ(shape(out[0]), "b,s,16");
  EXPECT_EQ(on.shape(out[1])[2], g.dims().symbol("p") + g.dims().symbol("s"));
  EXPECT_EQ(on.rank(out[3]), 4);
  EXPECT_THROW(on.Attention(q, k, v, 1, {}, {}, {}, {}, {.kv_num_heads = 3, .q_num_heads = 8}), Error);
}

TEST_F(SequenceTest, AQueryThatSeesNothingGivesZeros) {
  const ValueId q = floats({1, 1, 2, 1}, {1, 1}), k = floats({1, 1, 2, 1}, {1, 1}), v = floats({1, 1, 2, 1}, {3, 5});
  const ValueId mask = g.add_constant(store(DType::boolean, {2, 2}, std::vector<float>{0, 0, 1, 1}));
  EXPECT_EQ(values(on.Attention(q, k, v, 1, mask)[0]), (std::vector<double>{0, 4}));
}

TEST_F(SequenceTest, BidirectionalLayers) {
  const ValueId x = input({"t", "n", "10"});
  const auto out = on.LSTM(x, weight({2, 80, 10}), weight({2, 80, 20}), 3, {}, {}, {}, {}, {},
                           {.direction = "bidirectional", .hidden_size = 20});
  EXPECT_EQ(shape(out[0]), "t,2,n,20");
  EXPECT_EQ(shape(out[2]), "2,n,20");
  EXPECT_THROW(on.GRU(x, weight({1, 80, 10}), weight({1, 80, 20}), 1), Error);
}

TEST_F(SequenceTest, ShortSequencesStopAndPadWithZeros) {
  const ValueId x = floats({2, 2, 1}, {1, 1, 2, 2}), one = floats({1, 1, 1}, {1}), none = floats({1, 1, 1}, {0});
  const ValueId lengths = g.add_constant(store(DType::i32, {2}, std::vector<float>{2, 1}));
  const op::RNN a{.activations = {"Affine"}, .hidden_size = 1};
  const auto out = on.RNN(x, one, none, 2, {}, lengths, {}, a);
  EXPECT_EQ(values(out[0]), (std::vector<double>{1, 1, 2, 0}));
  EXPECT_EQ(values(out[1]), (std::vector<double>{2, 1}));
}

}  // namespace
}  // namespace cameo::tests
