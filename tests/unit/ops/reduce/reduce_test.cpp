#include <cmath>
#include <limits>

#include "../on_graph.h"

namespace cameo::tests {
namespace {

template <class Attrs>
Tensor run(const Attrs& a, std::vector<Datum> in) {
  return run_op(a, std::move(in))[0].tensor;
}
using D = std::vector<double>;
using I = std::vector<int64_t>;
constexpr double inf = std::numeric_limits<double>::infinity();

TEST(Reduce, Sizes) {
  OnGraph g;
  const ValueId x = g.f32({"n", "3", "h"});
  EXPECT_EQ(g.type(g.on.ReduceMean(x, g.on.ints({-1}))), "float[n,3,1]");
  EXPECT_EQ(g.type(g.on.ReduceSum(x, g.on.ints({1, 0}), {.keepdims = 0})), "float[h]");
  EXPECT_EQ(g.type(g.on.ReduceMax(x, {}, {.keepdims = 0})), "float[]");
  EXPECT_EQ(g.type(g.on.ReduceMax(x, {}, {.noop_with_empty_axes = 1})), "float[n,3,h]");
  EXPECT_EQ(g.graph[g.on.ReduceL2(x, g.i64({"2"}), {.keepdims = 0})].fact.rank(), 1);
  EXPECT_EQ(code_of([&] { g.on.ReduceSum(x, g.on.ints({3})); }), "infer.axis");
  EXPECT_EQ(g.contents(g.on.ReduceProd(g.on.Shape(x), {}, {.keepdims = 0})), "3*h*n");
}

TEST(Reduce, OverNothing) {
  const Tensor none = f32s({2, 0}, {});
  const Tensor axis = i64s({1}, {1});
  EXPECT_EQ(run(op::ReduceSum{.keepdims = 0}, {none, axis}).to_doubles(), (D{0, 0}));
  EXPECT_EQ(run(op::ReduceProd{.keepdims = 0}, {none, axis}).to_doubles(), (D{1, 1}));
  EXPECT_EQ(run(op::ReduceMax{.keepdims = 0}, {none, axis}).to_doubles(), (D{-inf, -inf}));
  EXPECT_EQ(run(op::ReduceLogSumExp{.keepdims = 0}, {none, axis}).to_doubles(), (D{-inf, -inf}));
  EXPECT_EQ(run(op::ReduceMin{.keepdims = 0}, {store(DType::u8, {0}, I{})}).to_ints(), (I{255}));
  EXPECT_EQ(run(op::ReduceMax{.keepdims = 0}, {store(DType::i8, {0}, I{})}).to_ints(), (I{-128}));
}

TEST(Reduce, Numbers) {
  const Tensor x = f32s({2, 2}, {1, -2, 3, -4});
  EXPECT_EQ(run(op::ReduceL1{.keepdims = 0}, {x, i64s({1}, {0})}).to_doubles(), (D{4, 6}));
  EXPECT_EQ(run(op::ReduceL2{.keepdims = 0}, {f32s({2}, {3, 4})}).to_doubles(), (D{5}));
  EXPECT_EQ(run(op::ReduceMean{.keepdims = 0}, {i64s({2}, {-3, -4})}).to_ints(), (I{-3}));
  EXPECT_NEAR(run(op::ReduceLogSumExp{.keepdims = 0}, {f32s({2}, {1000, 1000})}).double_at(0), 1000 + std::log(2),
              1e-3);
  EXPECT_TRUE(std::isnan(run(op::ReduceMax{.keepdims = 0}, {f32s({2}, {1, NAN})}).double_at(0)));
}

TEST(Arg, TiesAndNaN) {
  const Tensor x = f32s({4}, {1, 3, 3, 0});
  EXPECT_EQ(run(op::ArgMax{.keepdims = 0}, {x}).to_ints(), (I{1}));
  EXPECT_EQ(run(op::ArgMax{.keepdims = 0, .select_last_index = 1}, {x}).to_ints(), (I{2}));
  EXPECT_EQ(run(op::ArgMax{.keepdims = 0}, {f32s({3}, {1, NAN, 3})}).to_ints(), (I{1}));
  EXPECT_EQ(code_of([] { run(op::ArgMin{}, {f32s({0}, {})}); }), "eval.empty");
}

TEST(TopK, OrderAndSizes) {
  const auto best = run_op(op::TopK{}, {f32s({4}, {1, 3, 3, 0}), i64s({1}, {3})}, 2);
  EXPECT_EQ(best[0].tensor.to_doubles(), (D{3, 3, 1}));
  EXPECT_EQ(best[1].tensor.to_ints(), (I{1, 2, 0}));
  const auto least = run_op(op::TopK{.axis = 0, .largest = 0}, {i64s({2, 2}, {5, 1, 2, 7}), i64s({1}, {1})}, 2);
  EXPECT_EQ(least[0].tensor.to_ints(), (I{2, 1}));
  EXPECT_EQ(code_of([] { run(op::TopK{}, {f32s({2}, {1, 2}), i64s({1}, {3})}); }), "eval.size");
  OnGraph g;
  const ValueId n = g.on.Shape(g.f32({"k"}));
  EXPECT_EQ(g.type(g.on.TopK(g.f32({"b", "m"}), n, 2)[1]), "int64[b,k]");
}

}  // namespace
}  // namespace cameo::tests
