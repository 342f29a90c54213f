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

TEST(Activation, AtTheEnds) {
  const Tensor x = f32s({3}, {-1000, 0, 1000});
  EXPECT_EQ(run(op::Sigmoid{}, {x}).to_doubles(), (D{0, 0.5, 1}));
  EXPECT_EQ(run(op::Softplus{}, {x}).double_at(2), 1000);
  EXPECT_EQ(run(op::Mish{}, {x}).to_doubles(), (D{0, 0, 1000}));
  EXPECT_EQ(run(op::HardSwish{}, {x}).to_doubles(), (D{0, 0, 1000}));
  EXPECT_EQ(run(op::Shrink{.bias = 1, .lambd = 2}, {i64s({3}, {-5, 1, 5})}).to_ints(), (I{-4, 0, 4}));
  EXPECT_NEAR(run(op::Gelu{}, {f32s({1}, {1})}).double_at(0), 0.8413447, 1e-6);
  EXPECT_NEAR(run(op::Gelu{.approximate = "tanh"}, {f32s({1}, {1})}).double_at(0), 0.8411920, 1e-6);
}

TEST(Softmax, AlongAnyAxis) {
  const Tensor x = f32s({2, 2}, {0, 1000, 0, 1000});
  EXPECT_EQ(run(op::Softmax{}, {x}).to_doubles(), (D{0, 1, 0, 1}));
  EXPECT_EQ(run(op::Softmax{.axis = 0}, {x}).to_doubles(), (D{0.5, 0.5, 0.5, 0.5}));
  EXPECT_EQ(run(op::LogSoftmax{}, {x}).to_doubles(), (D{-1000, 0, -1000, 0}));
  EXPECT_EQ(run(op::Hardmax{}, {f32s({3}, {2, 5, 5})}).to_doubles(), (D{0, 1, 0}));
  EXPECT_EQ(run(op::Softmax{}, {f32s({2, 0}, {})}).shape(), (I{2, 0}));
  OnGraph g;
  EXPECT_EQ(g.type(g.on.Softmax(g.f32({"n", "c"}))), "float[n,c]");
  EXPECT_EQ(code_of([&] { g.on.Softmax(g.f32({"n", "c"}), {.axis = 2}); }), "infer.axis");
}

TEST(Gated, SlopesAndGates) {
  EXPECT_EQ(run(op::PRelu{}, {f32s({2, 2}, {-1, 1, -2, 2}), f32s({2, 1}, {0.5f, 2})}).to_doubles(),
            (D{-0.5, 1, -4, 2}));
  OnGraph g;
  EXPECT_EQ(g.type(g.on.PRelu(g.f32({"n", "c", "h", "w"}), g.f32({"c", "1", "1"}))), "float[n,c,h,w]");
  EXPECT_EQ(g.type(g.on.SwiGLU(g.f32({"n", "8"}), g.f32({"n", "8"}))), "float[n,8]");
  EXPECT_EQ(code_of([&] { g.on.SwiGLU(g.f32({"n", "8"}), g.f32({"n", "1"})); }), "infer.mismatch");
}

}  // namespace
}  // namespace cameo::tests
