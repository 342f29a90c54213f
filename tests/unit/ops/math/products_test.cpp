#include <cmath>

#include "../on_graph.h"

namespace cameo::tests {
namespace {

template <class Attrs>
Tensor run(const Attrs& a, std::vector<Datum> in) {
  return run_op(a, std::move(in))[0].tensor;
}
using D = std::vector<double>;
using I = std::vector<int64_t>;

TEST(MatMul, Sizes) {
  OnGraph g;
  EXPECT_EQ(g.type(g.on.MatMul(g.f32({"b", "1", "n", "8"}), g.f32({"4", "8", "m"}))), "float[b,4,n,m]");
  EXPECT_EQ(g.type(g.on.MatMul(g.f32({"8"}), g.f32({"b", "8", "m"}))), "float[b,m]");
  EXPECT_EQ(g.type(g.on.MatMul(g.f32({"8"}), g.f32({"8"}))), "float[]");
  EXPECT_EQ(code_of([&] { g.on.MatMul(g.f32({"n", "8"}), g.f32({"7", "m"})); }), "infer.mismatch");
  EXPECT_EQ(g.type(g.on.Gemm(g.f32({"k", "n"}), g.f32({"m", "k"}), g.f32({"m"}), {.transA = 1, .transB = 1})),
            "float[n,m]");
  EXPECT_EQ(code_of([&] { g.on.Gemm(g.f32({"2", "3"}), g.f32({"3", "4"}), g.f32({"5"})); }), "infer.broadcast");
}

TEST(MatMul, Kernels) {
  EXPECT_EQ(run(op::MatMul{}, {i64s({2, 2}, {1, 2, 3, 4}), i64s({2}, {10, 1})}).to_ints(), (I{12, 34}));
  EXPECT_EQ(run(op::MatMul{}, {f32s({2, 1, 2}, {1, 2, 3, 4}), f32s({2, 1}, {1, 1})}).to_doubles(), (D{3, 7}));
  EXPECT_EQ(run(op::MatMul{}, {f32s({2, 0}, {}), f32s({0, 1}, {})}).to_doubles(), (D{0, 0}));
  const Tensor gemm = run(op::Gemm{.alpha = 2, .beta = 0.5f, .transA = 1},
                          {f32s({2, 1}, {1, 2}), f32s({2, 2}, {1, 2, 3, 4}), f32s({2}, {10, 20})});
  EXPECT_EQ(gemm.to_doubles(), (D{19, 30}));
  const Tensor a = store(DType::u8, {1, 2}, I{11, 7}), b = store(DType::u8, {2, 1}, I{1, 4}),
               zero = store(DType::u8, {}, I{12});
  EXPECT_EQ(run(op::MatMulInteger{}, {a, b, zero}).to_ints(), (I{-21}));
}

TEST(Einsum, SizesAndSums) {
  OnGraph g;
  const std::vector heads{g.f32({"b", "h", "q", "64"}), g.f32({"b", "h", "k", "64"})};
  EXPECT_EQ(g.type(g.on.Einsum(heads, {.equation = "bhqd, bhkd -> bhqk"})), "float[b,h,q,k]");
  EXPECT_EQ(g.type(g.on.Einsum(heads, {.equation = "...qd,...kd"})), "float[b,h,k,q]");
  EXPECT_EQ(code_of([&] { g.on.Einsum(heads, {.equation = "abc,abcd"}); }), "model.einsum");
  EXPECT_EQ(code_of([&] { g.on.Einsum(heads, {.equation = "bhqd,bhkd->z"}); }), "model.einsum");

  const Tensor m = f32s({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run(op::Einsum{.equation = "ii"}, {m}).to_doubles(), (D{5}));
  EXPECT_EQ(run(op::Einsum{.equation = "ij->ji"}, {m}).to_doubles(), (D{1, 3, 2, 4}));
  EXPECT_EQ(run(op::Einsum{.equation = "ij,jk,kl->il"}, {m, m, m}).to_doubles(), (D{37, 54, 81, 118}));
}

TEST(Det, Pivots) {
  EXPECT_EQ(run(op::Det{}, {f32s({2, 2, 2}, {0, 1, 1, 0, 1, 2, 3, 4})}).to_doubles(), (D{-1, -2}));
  EXPECT_EQ(run(op::Det{}, {f32s({2, 2}, {1, 2, 2, 4})}).shape(), (I{}));
}

TEST(Window, ShapesAndValues) {
  OnGraph g;
  const ValueId n = g.on.Gather(g.on.Shape(g.f32({"n"})), g.on.int_scalar(0));
  EXPECT_EQ(g.type(g.on.HannWindow(n, {.output_datatype = 11})), "double[n]");
  const Tensor hann = run(op::HannWindow{.periodic = 0}, {Tensor::int_scalar(3)});
  EXPECT_NEAR(hann.double_at(1), 1, 1e-6);
  EXPECT_EQ(code_of([] { run(op::HannWindow{}, {Tensor::int_scalar(-1)}); }), "eval.size");
}

TEST(Loss, IgnoredTargetsCountForNothing) {
  const Tensor logs = f32s({2, 3}, {-1, -2, -3, -4, -5, -6}), target = i64s({2}, {1, -7});
  EXPECT_EQ(run(op::NegativeLogLikelihoodLoss{.ignore_index = -7}, {logs, target}).to_doubles(), (D{2}));
  EXPECT_EQ(code_of([&] { run(op::NegativeLogLikelihoodLoss{}, {logs, target}); }), "eval.index");
  OnGraph g;
  const auto both =
      g.on.SoftmaxCrossEntropyLoss(g.f32({"n", "c", "d"}), g.i64({"n", "d"}), 2, {}, {.reduction = "none"});
  EXPECT_EQ(g.type(both[0]) + g.type(both[1]), "float[n,d]float[n,c,d]");
}

TEST(Random, SeedsRepeat) {
  const Tensor x = f32s({1000}, std::vector<float>(1000, 0.25f));
  const Tensor once = run(op::Bernoulli{.seed = 3.0f}, {x}), again = run(op::Bernoulli{.seed = 3.0f}, {x});
  EXPECT_EQ(once, again);
  const auto mean = run(op::ReduceMean{}, {once}).double_at(0);
  EXPECT_NEAR(mean, 0.25, 0.05);
  const Tensor normal = run(op::RandomNormal{.mean = 2, .seed = 1.0f, .shape = {4000}}, {});
  EXPECT_NEAR(run(op::ReduceMean{}, {normal}).double_at(0), 2, 0.1);
  EXPECT_FALSE(op_of<op::RandomNormal>().rules.deterministic);
}

}  // namespace
}  // namespace cameo::tests
