#include <cmath>
#include <limits>

#include "../on_graph.h"

namespace cameo::tests {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

template <class Attrs>
Tensor run(const Attrs& a, std::vector<Datum> in) {
  return run_op(a, std::move(in))[0].tensor;
}
Tensor i8s(std::vector<int64_t> v) { return store(DType::i8, {static_cast<int64_t>(v.size())}, v); }
std::vector<double> doubles(const Tensor& t) { return t.to_doubles(); }
using D = std::vector<double>;
using I = std::vector<int64_t>;

TEST(Elementwise, SizesBroadcast) {
  OnGraph g;
  const ValueId x = g.f32({"n", "1", "4"});
  EXPECT_EQ(g.type(g.on.Add(x, g.f32({"h", "4"}))), "float[n,h,4]");
  EXPECT_EQ(g.type(g.on.Less(x, g.f32({}))), "bool[n,1,4]");
  EXPECT_EQ(g.type(g.on.Where(g.input(DType::boolean, {"n", "1"}), g.i64({"3"}), g.i64({}))), "int64[n,3]");
  EXPECT_EQ(code_of([&] { g.on.Mul(x, g.f32({"5"})); }), "infer.broadcast");
}

TEST(Elementwise, IntegersWrapAndTruncate) {
  EXPECT_EQ(run(op::Add{}, {i8s({127}), i8s({1})}).to_ints(), (I{-128}));
  EXPECT_EQ(run(op::Neg{}, {i8s({-128, 5})}).to_ints(), (I{-128, -5}));
  EXPECT_EQ(run(op::Abs{}, {i64s({1}, {INT64_MIN})}).to_ints(), (I{INT64_MIN}));
  EXPECT_EQ(run(op::Div{}, {i64s({4}, {7, -7, 7, INT64_MIN}), i64s({4}, {2, 2, -2, -1})}).to_ints(),
            (I{3, -3, -3, INT64_MIN}));
  EXPECT_EQ(code_of([] { run(op::Div{}, {i64s({1}, {1}), i64s({1}, {0})}); }), "eval.division");
  EXPECT_EQ(run(op::BitwiseNot{}, {store(DType::u8, {1}, I{5})}).to_ints(), (I{250}));
  EXPECT_EQ(run(op::Pow{}, {i64s({3}, {2, -1, 3}), i64s({3}, {10, -3, -1})}).to_ints(), (I{1024, -1, 0}));
}

TEST(Elementwise, RemaindersTakeTheSignOfTheDivisor) {
  EXPECT_EQ(run(op::Mod{}, {i64s({4}, {7, -7, 7, -7}), i64s({4}, {3, 3, -3, -3})}).to_ints(), (I{1, 2, -2, -1}));
  EXPECT_EQ(run(op::Mod{.fmod = 1}, {i64s({4}, {7, -7, 7, -7}), i64s({4}, {3, 3, -3, -3})}).to_ints(),
            (I{1, -1, 1, -1}));
  EXPECT_EQ(doubles(run(op::Mod{}, {f32s({3}, {-4.5f, 4.5f, -2}), f32s({3}, {2, -2, inf})})), (D{1.5, -1.5, inf}));
  EXPECT_TRUE(std::isnan(run(op::Mod{}, {f32s({1}, {inf}), f32s({1}, {2})}).double_at(0)));
}

TEST(Elementwise, ShiftsBeyondTheWidth) {
  EXPECT_EQ(run(op::BitShift{.direction = "RIGHT"}, {i8s({-8, -8, 8, -8}), i8s({1, 9, 9, -1})}).to_ints(),
            (I{-4, -1, 0, -1}));
  EXPECT_EQ(run(op::BitShift{.direction = "LEFT"}, {i8s({64, 1}), i8s({1, 8})}).to_ints(), (I{-128, 0}));
}

TEST(Elementwise, NotANumber) {
  EXPECT_TRUE(std::isnan(run(op::Max{}, {f32s({1}, {nan}), f32s({1}, {1})}).double_at(0)));
  EXPECT_TRUE(std::isnan(run(op::Min{}, {f32s({1}, {1}), f32s({1}, {nan})}).double_at(0)));
  EXPECT_TRUE(std::isnan(run(op::Clip{}, {f32s({1}, {nan}), f32s({}, {0}), f32s({}, {1})}).double_at(0)));
  EXPECT_TRUE(std::isnan(run(op::Relu{}, {f32s({1}, {nan})}).double_at(0)));
  EXPECT_EQ(run(op::IsInf{.detect_negative = 0}, {f32s({3}, {inf, -inf, nan})}).to_ints(), (I{1, 0, 0}));
  EXPECT_EQ(doubles(run(op::Clip{}, {f32s({3}, {-1, 0.5f, 9}), f32s({}, {4}), f32s({}, {2})})), (D{2, 2, 2}));
}

TEST(Elementwise, HalvesRoundToEvenAndOnce) {
  EXPECT_EQ(doubles(run(op::Round{}, {f32s({4}, {0.5f, 1.5f, 2.5f, -1.5f})})), (D{0, 2, 2, -2}));
  const Tensor a = store(DType::f16, {1}, D{2048}), b = store(DType::f16, {1}, D{1});
  EXPECT_EQ(doubles(run(op::Add{}, {a, b})), (D{2048}));
  EXPECT_EQ(doubles(run(op::Sum{}, {a, b, b})), (D{2050}));  // summed in single precision, rounded at the end
}

TEST(Elementwise, EmptyAndScalar) {
  EXPECT_EQ(run(op::Add{}, {f32s({0, 3}, {}), f32s({1}, {1})}).shape(), (I{0, 3}));
  EXPECT_EQ(run(op::Add{}, {f32s({}, {2}), f32s({}, {1})}).shape(), (I{}));
  const Tensor grid = run(op::Sub{}, {i64s({2, 1}, {10, 20}), i64s({3}, {1, 2, 3})});
  EXPECT_EQ(grid.shape(), (I{2, 3}));
  EXPECT_EQ(grid.to_ints(), (I{9, 8, 7, 19, 18, 17}));
}

TEST(Elementwise, WhereMovesAnyType) {
  const Tensor yes = store(DType::boolean, {2}, I{1, 0});
  const Tensor a({2}, std::vector<std::string>{"a", "b"}), b({}, std::vector<std::string>{"z"});
  EXPECT_EQ(run(op::Where{}, {yes, a, b}).strings(), (std::vector<std::string>{"a", "z"}));
  EXPECT_EQ(run(op::Equal{}, {a, b}).to_ints(), (I{0, 0}));
}

TEST(Elementwise, SizesAreComputedWith) {
  OnGraph g;
  const ValueId shape = g.on.Shape(g.f32({"n", "h"}));
  EXPECT_EQ(g.contents(g.on.Add(g.on.Mul(shape, g.on.int_scalar(2)), g.on.ints({1, 3}))), "2*n + 1,2*h + 3");
  EXPECT_EQ(g.contents(g.on.Div(g.on.Mul(shape, g.on.int_scalar(6)), g.on.int_scalar(3))), "2*n,2*h");
  EXPECT_EQ(g.contents(g.on.Sub(shape, shape)), "0,0");
  EXPECT_EQ(g.contents(g.on.Cast(g.on.Neg(shape), {.to = 6})), "-n,-h");
  EXPECT_EQ(g.contents(g.on.Max(std::vector{shape, g.on.ints({0, 0})})), "n,h");
  // A size is never -1: the usual dance before Expand stays known.
  EXPECT_EQ(g.contents(g.on.Equal(shape, g.on.int_scalar(-1))), "0,0");
  EXPECT_EQ(g.contents(g.on.Where(g.on.Equal(shape, g.on.int_scalar(-1)), g.on.ints({1, 1}), shape)), "n,h");
  EXPECT_EQ(g.contents(g.on.Clip(shape, g.on.int_scalar(0), g.on.int_scalar(8))),
            min(g.dim("n"), g.dim("8")).text() + "," + min(g.dim("h"), g.dim("8")).text());
  EXPECT_EQ(g.contents(g.on.Equal(shape, g.on.int_scalar(4))), "?");
  EXPECT_EQ(g.contents(g.on.Div(shape, g.on.int_scalar(0))), "?");
}

TEST(Cast, ThroughTextAndSmallFloats) {
  const Tensor x = f32s({5}, {1, 100000, 0.00001f, 0.1f, -inf});
  EXPECT_EQ(run(op::Cast{.to = 8}, {x}).strings(),
            (std::vector<std::string>{"1.0", "100000.0", "1e-05", "0.1", "-INF"}));
  const Tensor text({4}, std::vector<std::string>{"1.5", "+INF", "nan", "1E8"});
  EXPECT_EQ(run(op::Cast{.to = 1}, {text}).double_at(3), 1e8);
  EXPECT_EQ(run(op::Cast{.to = 1}, {text}).double_at(1), inf);
  EXPECT_EQ(code_of([] { run(op::Cast{.to = 1}, {Tensor({1}, {"Hello"})}); }), "eval.cast");
  EXPECT_EQ(doubles(run(op::Cast{.to = 17}, {f32s({1}, {1e6f})})), (D{448}));
  EXPECT_TRUE(std::isnan(run(op::Cast{.saturate = 0, .to = 17}, {f32s({1}, {1e6f})}).double_at(0)));
  EXPECT_EQ(run(op::Cast{.to = 9}, {f32s({3}, {0, -0.0f, nan})}).to_ints(), (I{0, 0, 1}));
  EXPECT_EQ(run(op::BitCast{.to = 6}, {f32s({1}, {1})}).to_ints(), (I{0x3f800000}));
  OnGraph g;
  EXPECT_EQ(code_of([&] { g.on.BitCast(g.f32({"n"}), {.to = 7}); }), "infer.type");
}

TEST(Cumulative, DirectionsAndRanges) {
  const Tensor x = i64s({3}, {1, 2, 3});
  EXPECT_EQ(run(op::CumSum{}, {x, Tensor::int_scalar(0)}).to_ints(), (I{1, 3, 6}));
  EXPECT_EQ(run(op::CumSum{.exclusive = 1, .reverse = 1}, {x, Tensor::int_scalar(-1)}).to_ints(), (I{5, 3, 0}));
  EXPECT_EQ(run(op::CumProd{.exclusive = 1}, {x, Tensor::int_scalar(0)}).to_ints(), (I{1, 1, 2}));
  EXPECT_EQ(run(op::Range{}, {Tensor::int_scalar(10), Tensor::int_scalar(4), Tensor::int_scalar(-2)}).to_ints(),
            (I{10, 8, 6}));
  EXPECT_EQ(run(op::Range{}, {Tensor::int_scalar(3), Tensor::int_scalar(3), Tensor::int_scalar(1)}).shape(), (I{0}));
  EXPECT_EQ(code_of([] {
              run(op::Range{}, {Tensor::int_scalar(INT64_MIN), Tensor::int_scalar(INT64_MAX), Tensor::int_scalar(1)});
            }),
            "eval.range");
  OnGraph g;
  const ValueId n = g.on.Gather(g.on.Shape(g.f32({"n"})), g.on.int_scalar(0));
  EXPECT_EQ(g.type(g.on.Range(g.on.int_scalar(0), n, g.on.int_scalar(1))), "int64[n]");
  EXPECT_EQ(g.type(g.on.Range(g.on.int_scalar(0), n, g.on.int_scalar(2))),
            "int64[" + ceil_div(g.dim("n"), Dim(int64_t{2})).text() + "]");
  EXPECT_EQ(g.contents(g.on.Range(n, g.on.Add(n, g.on.int_scalar(3)), g.on.int_scalar(1))), "n,n + 1,n + 2");
}

}  // namespace
}  // namespace cameo::tests
