// What rules of mathematical operators refuse before a kernel runs, and numbers and sizes at the end of their ranges.
#include <limits>

#include "../on_graph.h"
#include "kernels/broadcast.h"

namespace cameo::tests {
namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();
constexpr int64_t huge = int64_t{1} << 30;
using I = std::vector<int64_t>;

Tensor nothing(I shape) { return Tensor(DType::f32, std::move(shape), Bytes()); }
template <class Attrs>
Tensor run(const Attrs& a, std::vector<Datum> in) {
  return run_op(a, std::move(in))[0].tensor;
}

TEST(Preconditions, AnAddendIsRepeatedAndDoesNotEnlarge) {
  OnGraph g;
  const ValueId a = g.f32({"1", "3"}), b = g.f32({"3", "4"});
  EXPECT_EQ(code_of([&] { g.on.Gemm(a, b, g.f32({"5", "4"})); }), "infer.broadcast");
  EXPECT_EQ(code_of([&] { g.on.Gemm(a, b, g.f32({"1", "1", "4"})); }), "infer.broadcast");
  EXPECT_EQ(g.type(g.on.Gemm(g.f32({"n", "3"}), b, g.f32({"m", "4"}))), "float[n,4]");
  EXPECT_EQ(code_of([&] { g.on.PRelu(g.f32({"1", "3"}), g.f32({"2", "3"})); }), "infer.broadcast");
  EXPECT_EQ(g.type(g.on.PRelu(g.f32({"n", "3"}), g.f32({"c", "3"}))), "float[n,3]");
}

TEST(Preconditions, ZeroPointsFitTheirMatrices) {
  OnGraph g;
  const auto bytes = [&](std::vector<std::string> sizes) { return g.input(DType::u8, std::move(sizes)); };
  const ValueId a = bytes({"2", "3", "4"}), b = bytes({"4", "5"});
  for (const auto& zero : {std::vector<std::string>{}, {"1"}, {"3"}, {"2", "3", "1"}, {"z"}})
    EXPECT_EQ(code_of([&] { g.on.MatMulInteger(a, b, bytes(zero)); }), "");
  EXPECT_EQ(code_of([&] { g.on.MatMulInteger(a, b, bytes({"4"})); }), "infer.shape");
  EXPECT_EQ(code_of([&] { g.on.MatMulInteger(a, b, bytes({}), bytes({"4"})); }), "infer.shape");
  EXPECT_EQ(code_of([&] { g.on.MatMulInteger(a, b, bytes({}), bytes({"5"})); }), "");
}

TEST(Preconditions, OneNumberOfAnyRank) {
  OnGraph g;
  const ValueId x = g.f32({"2", "3"});
  EXPECT_EQ(code_of([&] { g.on.Clip(x, g.f32({"n"})); }), "");  // may be one
  EXPECT_EQ(code_of([&] { g.on.Clip(x, g.f32({"2"})); }), "infer.mismatch");
  EXPECT_EQ(code_of([&] { g.on.CumSum(x, g.i64({"2"})); }), "infer.mismatch");
  EXPECT_EQ(code_of([&] { g.on.CumSum(x, g.on.int_scalar(2)); }), "infer.axis");
  EXPECT_EQ(code_of([&] { g.on.CumSum(g.f32({}), g.i64({})); }), "infer.rank");
  EXPECT_EQ(code_of([&] { g.on.TopK(x, g.i64({"2"}), 2); }), "infer.mismatch");
  EXPECT_EQ(code_of([&] { g.on.HannWindow(g.i64({"0"})); }), "infer.mismatch");
  EXPECT_EQ(code_of([&] { g.on.Range(g.i64({}), g.i64({"0"}), g.i64({})); }), "infer.mismatch");
  EXPECT_EQ(code_of([&] { g.on.ArgMax(g.f32({"3", "0"}), {.axis = 1}); }), "infer.size");
  EXPECT_EQ(code_of([&] { g.on.ArgMax(g.f32({"0", "0"}), {.axis = 1}); }), "");
}

TEST(Preconditions, MissingOperands) {
  OnGraph g;
  EXPECT_EQ(code_of([&] { g.on.Max(std::vector{g.f32({"2"}), ValueId(), g.f32({"2"})}); }), "infer.operands");
  EXPECT_EQ(code_of([&] { g.on.Add({}, g.f32({"2"})); }), "infer.operands");
}

TEST(Preconditions, EinsumLettersAndRoom) {
  OnGraph g;
  EXPECT_EQ(code_of([&] { g.on.Einsum(std::vector{g.f32({"2", "2"})}, {.equation = "a9->a"}); }), "model.einsum");
  // Four vectors and a number make one number, by way of a product of 10^12.
  const Tensor v = f32s({1000}, std::vector<float>(1000, 1)), one = f32s({1, 1, 1, 1}, {1});
  EXPECT_EQ(code_of([&] { run(op::Einsum{.equation = "a,b,c,d,abcd->"}, {v, v, v, v, one}); }), "eval.size");
}

// Sizes beside a 0 may be long: nothing is allocated or walked by them.
TEST(Preconditions, EmptyTensorsWithLongAxes) {
  const Datum axis = i64s({}, {1});
  EXPECT_EQ(run(op::CumSum{}, {nothing({huge, 0}), axis}).shape(), (I{huge, 0}));
  EXPECT_EQ(run(op::CumProd{}, {nothing({0, huge, 2}), axis}).count(), 0);
  EXPECT_EQ(run(op::LpNormalization{}, {nothing({huge, 0})}).count(), 0);
  EXPECT_EQ(run(op::Softmax{}, {nothing({huge, 0})}).count(), 0);
  EXPECT_EQ(run(op::ReduceSum{}, {nothing({0, huge}), i64s({1}, {1})}).shape(), (I{0, 1}));
  EXPECT_EQ(run(op::MeanVarianceNormalization{.axes = {1}}, {nothing({2, 0, huge})}).count(), 0);
  EXPECT_EQ(run(op::MatMul{}, {nothing({huge, 0}), nothing({0, 0})}).shape(), (I{huge, 0}));
  EXPECT_EQ(run(op::MatMul{}, {nothing({0, 1 << 15, 0}), nothing({0, 0, 1 << 15})}).shape(), (I{0, 1 << 15, 1 << 15}));
  EXPECT_EQ(run(op::Add{}, {nothing({0, huge, 2}), f32s({}, {1})}).count(), 0);
  EXPECT_EQ(run(op::Einsum{.equation = "ab->ba"}, {nothing({huge, 0})}).shape(), (I{0, huge}));
  EXPECT_EQ(run(op::SoftmaxCrossEntropyLoss{.reduction = "none"},
                {nothing({0, 5, 1 << 14, 1 << 14}), Tensor(DType::i64, {0, 1 << 14, 1 << 14}, Bytes())})
                .count(),
            0);
}

TEST(Preconditions, NumbersAtTheEndOfTheirRange) {
  EXPECT_EQ(run(op::Div{}, {i64s({1}, {least}), i64s({1}, {-1})}).to_ints(), (I{least}));
  EXPECT_EQ(run(op::Mod{}, {i64s({1}, {least}), i64s({1}, {-1})}).to_ints(), (I{0}));
  EXPECT_EQ(run(op::Mul{}, {i64s({1}, {least}), i64s({1}, {-1})}).to_ints(), (I{least}));
  EXPECT_EQ(run(op::Abs{}, {i64s({1}, {least})}).to_ints(), (I{least}));
  EXPECT_EQ(run(op::PRelu{}, {i64s({1}, {least}), i64s({1}, {3})}).to_ints(), (I{least}));
  EXPECT_EQ(run(op::Shrink{.bias = -1e30f, .lambd = 0}, {i64s({2}, {1, -1})}).to_ints(), (I{most, least}));
  EXPECT_EQ(run(op::Gemm{.alpha = 1e30f}, {i64s({1, 1}, {5}), i64s({1, 1}, {-5})}).to_ints(), (I{least}));
  EXPECT_EQ(code_of([&] { run(op::Cast{.to = 7}, {Tensor(I{1}, {"9.25e18"})}); }), "eval.cast");
  EXPECT_EQ(code_of([&] { run(op::Div{}, {i64s({1}, {1}), i64s({1}, {0})}); }), "eval.division");
}

TEST(Preconditions, MovingLooksAtItsIndices) {
  const Tensor x = f32s({2}, {1, 2});
  EXPECT_EQ(code_of([&] { take(x, {1}, I{2}); }), "eval.index");
  EXPECT_EQ(code_of([&] { put(x, I{-1}, f32s({1}, {0})); }), "eval.index");
  EXPECT_EQ(code_of([&] { put(x, I{0, 1}, f32s({1}, {0})); }), "eval.shape");
  const Tensor narrow = store(DType::u8, {1}, I{1});
  EXPECT_EQ(code_of([&] { take(x, {1}, I{-1}, &narrow); }), "eval.type");
  EXPECT_EQ(code_of([&] { i64s({0}, {}).int_at(0); }), "value.range");
  EXPECT_EQ(code_of([&] { x.double_at(2); }), "value.range");
  EXPECT_EQ(code_of([&] { run(op::Equal{}, {Tensor(I{1}, {"a"}), x}); }), "eval.type");
}

// Converting to an older opset a model whose axes are nonsense.
TEST(Preconditions, ExpansionsRefuseAxesOutside) {
  OnGraph g;
  const ValueId x = g.f32({"2", "3"});
  const auto refused = [&](const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> in, size_t outputs,
                           int64_t target) {
    const NodeId n = g.graph.add_node(g.graph.main(), op, attrs, std::move(in), outputs);
    On on(g.graph, g.graph.main(), n);
    for (const Expansion& e : def(op).rules.expansions)
      if (target < e.below && (!e.needed || e.needed(attrs.get(), g.graph, n, target))) {
        Expand how(on, g.graph, n, target);
        e.expand(attrs.get(), how);
        if (how.refusal) return true;
      }
    return false;
  };
  EXPECT_TRUE(refused(op_of<op::ArgMax>(), std::make_shared<op::ArgMax>(op::ArgMax{.axis = 9, .select_last_index = 1}),
                      {x}, 1, 11));
  EXPECT_TRUE(refused(op_of<op::TopK>(), std::make_shared<op::TopK>(op::TopK{.axis = -9}), {x, g.i64({"1"})}, 2, 9));
  EXPECT_TRUE(refused(op_of<op::NegativeLogLikelihoodLoss>(), std::make_shared<op::NegativeLogLikelihoodLoss>(),
                      {g.f32({"2"}), g.i64({})}, 1, 11));
  EXPECT_FALSE(refused(op_of<op::Max>(), nullptr, {x, ValueId()}, 1, 7));
}

}  // namespace
}  // namespace cameo::tests
