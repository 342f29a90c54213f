// The gate before compute: what a shape rule refuses at the real sizes reaches no kernel.
#include "ops/gate.h"

#include <gtest/gtest.h>

#include "engine/emit.h"
#include "engine/session.h"
#include "ops/eval.h"
#include "ops/op_def.h"
#include "runtime/reference.h"
#include "unit/engine/models.h"

namespace cameo::tests {
namespace {

Datum filled(DType dtype, std::vector<int64_t> shape) { return Datum(full(dtype, std::move(shape), 0)); }
Datum floats(std::vector<int64_t> shape) { return filled(DType::f32, std::move(shape)); }

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(e.diag().code);
  }
  return "ran";
}

// Fast kernels, reference kernels that are planned, and the interpreter.
std::vector<std::string> refusals(const Model& m, const std::vector<Datum>& in) {
  SessionOptions planned, own;
  planned.fast = false;
  own.onednn = false;
  return {refusal([&] { Session(m).run(in); }), refusal([&] { Session(m, own).run(in); }),
          refusal([&] { Session(m, planned).run(in); }), refusal([&] { run_reference(m, in); })};
}

// No kernel without a rule: reference kernels, and the rows of the engine's tables.
TEST(Gate, EveryKernelHasAShapeRule) {
  for (const OpDef& op : all_ops())
    EXPECT_TRUE(!op.rules.eval || op.rules.infer) << op.domain << "::" << op.name << " computes what no rule checks";
  for (const auto rows : {simd_emitters(), vnni_emitters(), onednn_emitters()})
    for (const EmitterRow& row : rows) {
      const OpDef *standard = find_op("", row.op), *microsoft = find_op("com.microsoft", row.op);
      const OpDef* op = standard ? standard : microsoft;
      ASSERT_TRUE(op) << "a row for " << row.op << ", which is no operator";
      EXPECT_TRUE(op->rules.infer) << row.op;
      EXPECT_TRUE(op->rules.eval) << row.op << " has no reference to be compared with";
    }
}

struct Wrong {
  const char* name;
  const char* text;
  std::vector<Datum> in;
  std::string code;
};
class Gate : public testing::TestWithParam<Wrong> {};
TEST_P(Gate, RefusesWhatTheRuleRefuses) {
  const Model m = model_of(GetParam().text);
  EXPECT_EQ(refusals(m, GetParam().in), std::vector<std::string>(4, GetParam().code));
}

const Wrong wrong[] = {
    {"NamedAgainstFixed",
     "g (float[2,15] a, float[n,4] b) => (float[p,q] y) { y = Concat<axis=1>(a, b) }",
     {floats({2, 15}), floats({9, 4})},
     "infer.mismatch"},
    {"Broadcast",
     "g (float[2,15000] a, float[1,n] b) => (float[p,q] y) { y = Add(a, b) }",
     {floats({2, 15000}), floats({1, 3})},
     "infer.broadcast"},
    {"BroadcastBehindAProduct",
     "g (float[2,8] a, float[8,5] w, float[n] b) => (float[p,q] y) { c = MatMul(a, w) y = Add(c, b) }",
     {floats({2, 8}), floats({3})},
     "infer.broadcast"},
    {"DeclaredSizes",
     "g (float[2,3] a, float[2,300,3] b) => (float[2,3] y) { y = Concat<axis=0>(a, b) }",
     {floats({2, 3}), floats({2, 300, 3})},
     "infer.rank"},
    {"ElementTypes",
     "g (float[4] a, int32[4] b) => (float[4] y) { y = Add(a, b) }",
     {floats({4}), filled(DType::i32, {4})},
     "infer.elements"},
    // As a product and a sum it would broadcast.
    {"ChannelsOfABatchNorm",
     "g (float[1,n,3] x) => (float[p,q,r] y) <float[2] s = {2, 4}> { y = BatchNormalization(x, s, s, s, s) }",
     {floats({1, 1, 3})},
     "infer.mismatch"},
    {"InABody",
     "g (bool[] c, float[2,3] a, float[n,3] b) => (float[p,q] y) { y = If(c) <then_branch = t () => (float[2,3] r) { r "
     "= Sub(a, b) }, else_branch = e () => (float[2,3] s) { s = Add(a, b) }> }",
     {filled(DType::boolean, {}), floats({2, 3}), floats({4, 3})},
     "infer.broadcast"},
    {"SizesFromData",
     "g (float[n] x, float[5] b) => (float[p] y) { i = NonZero(x) k = Squeeze(i) f = Cast<to=1>(k) y = Add(f, b) }",
     {Datum(full(DType::f32, {3}, 1)), floats({5})},
     "infer.broadcast"},
};
INSTANTIATE_TEST_SUITE_P(Engine, Gate, testing::ValuesIn(wrong),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(Gate, DeclaredSizesInBetweenAreNotTrusted) {
  // 'c' is declared far larger than it is; what reads it would run past its end.
  const Model m = model_of("g (float[2,3] a) => (float[9,9] y) <float[9,9] c> { c = Relu(a) y = Neg(c) }");
  for (const bool fast : {true, false}) {
    SessionOptions o;
    o.fast = fast;
    EXPECT_EQ(Session(m, o).run(std::vector{floats({2, 3})})[0].tensor.shape(), (std::vector<int64_t>{2, 3}));
  }
}

TEST(Gate, ADefaultIsWhatItsDataAre) {
  Model m = model_of("g (float[100] d, float[100] x) => (float[100] y) { y = Add(d, x) }");
  Graph& g = m.graph;
  g.set_weight(g[g.main()].inputs[0], std::make_shared<const Weight>(Weight::of(full(DType::f32, {2}, 1))));
  EXPECT_EQ(refusal([&] { Session(m).run(std::vector{Datum(), floats({100})}); }), "infer.broadcast");
}

TEST(Gate, BodiesThatDoNotRunAreNotJudged) {
  const Model m = model_of(
      "g (bool[] c, float[2,3] a, float[4,3] b) => (float[p,q] y) { y = If(c) <then_branch = t () => (float[2,3] r) { "
      "r = Sub(a, b) }, else_branch = e () => (float[2,3] s) { s = Neg(a) }> }");
  EXPECT_EQ(refusals(m, {filled(DType::boolean, {}), floats({2, 3}), floats({4, 3})}),
            std::vector<std::string>(4, "ran"));
}

TEST(Gate, FoldingAsksTheRule) {
  Graph g;
  const ValueId a = g.add_constant(full(DType::f32, {2, 3}, 1)), b = g.add_constant(full(DType::f32, {4, 3}, 1));
  const NodeId n = g.add_node(g.main(), *find_op("", "Add"), nullptr, {a, b});
  const Datum x(*g.constant(a)), y(*g.constant(b));
  const Datum* in[] = {&x, &y};
  EXPECT_EQ(refusal([&] { evaluate_node(g[n], in); }), "infer.broadcast");
}

TEST(Gate, AsksNoKernelForResultsOfNothing) {
  // Kernels would go over a thousand million rows, which a file states in ten bytes.
  const Model m = model_of("g (float[n,m] a) => (float[p,q] y) { b = Hardmax<axis=0>(a) y = Softmax<axis=1>(b) }");
  EXPECT_EQ(refusals(m, {floats({int64_t{1} << 30, 0})}), std::vector<std::string>(4, "ran"));
  EXPECT_EQ(Session(m).run(std::vector{floats({int64_t{1} << 30, 0})})[0].tensor.count(), 0);
}

TEST(Gate, ResultsOfNothingAreOperandsToo) {
  const Model m = model_of(
      "g (float[n,3] a, float[2,3] b) => (float[p,3] y, float[q,3] z, float[3] s) { x = Constant<value_ints=[0]>() r = "
      "Relu(a) y = Concat<axis=0>(b, r, b) z = Neg(r) s = ReduceSum<keepdims=0>(r, x) }");
  for (const bool fast : {true, false}) {
    SessionOptions o;
    o.fast = fast;
    const auto out = Session(m, o).run(std::vector{floats({0, 3}), floats({2, 3})});
    EXPECT_EQ(out[0].tensor.shape(), (std::vector<int64_t>{4, 3}));
    EXPECT_EQ(out[1].tensor.shape(), (std::vector<int64_t>{0, 3}));
    EXPECT_EQ(out[2].tensor.to_doubles(), (std::vector<double>{0, 0, 0}));
  }
}

TEST(Gate, ItemsOfASequenceAreCheckedWhenTheyCome) {
  const Model m = model_of(
      "g (seq(float[2,3]) s, float[2,3] b) => (float[2,3] y) { i = Constant<value_int=0>() x = SequenceAt(s, i) y = "
      "Add(x, b) }");
  const auto in = std::vector{Datum::sequence({floats({7, 9})}), floats({2, 3})};
  EXPECT_EQ(refusals(m, in), std::vector<std::string>(4, "infer.broadcast"));
}

}  // namespace
}  // namespace cameo::tests
