// Every fast path against the reference kernels, on sizes that no vector length divides.
#include "engine/session.h"

#include <gtest/gtest.h>

#include <thread>

#include "ir/structure.h"
#include "runtime/compare.h"
#include "runtime/inputs.h"
#include "runtime/reference.h"
#include "support/error.h"
#include "unit/engine/models.h"

namespace cameo::tests {
namespace {

// The rules of the engine work on a copy, so that nothing that they make can be written.
TEST(Session, TheLoadedModelStaysAsItIs) {
  const Model m = model_of(
      "g (float16[2,5,6,3] x, float16[5] ws, float16[5] wb) => (float16[n,5,a,b] y) { v = Mul(ws, ws) b = "
      "BatchNormalization(x, ws, wb, wb, v) s = Sigmoid(b) y = Mul(b, s) }");
  const Session s(m);
  s.run(inputs_of(m.graph, 3));
  Model after;
  after.graph = s.graph();
  EXPECT_EQ(structural_difference(m, after), std::nullopt);
}

struct Case {
  const char* name;
  const char* text;                 // the graph; float[...] sizes are literal
  double rtol = 1e-4, atol = 2e-5;  // sums in another order, and vector functions a few units off
};

void agree(const Case& c, const SessionOptions& options) {
  const Model m = model_of(c.text);
  const auto in = inputs_of(m.graph, 7);
  const auto want = run_reference(m, in);
  const Session s(m, options);
  for (int round = 0; round < 2; ++round) {  // the second run reuses the first one's memory
    const auto got = s.run(in);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const Comparison same = compare(got[i], want[i], {.rtol = c.rtol, .atol = c.atol});
      EXPECT_TRUE(same.same) << c.name << ", output " << i << ", round " << round << ": " << same.why;
    }
  }
}

#include "unit/engine/cases.inc"

class FastPath : public testing::TestWithParam<Case> {};
TEST_P(FastPath, AgreesWithTheReference) { agree(GetParam(), {}); }
TEST_P(FastPath, AgreesWithoutOneDnn) {
  SessionOptions o;
  o.onednn = false;
  agree(GetParam(), o);
}
TEST_P(FastPath, PlannedReferenceKernelsAgree) {
  SessionOptions o;
  o.fast = false;
  agree(GetParam(), o);
}
INSTANTIATE_TEST_SUITE_P(Engine, FastPath, testing::ValuesIn(cases),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(Session, SeveralThreadsAtOnce) {
  const Model m = model_of(
      "g (float[n,3,9,9] x, float[5,3,3,3] w) => (float[n,5,7,7] y) { a = Conv(x, w) b = Relu(a) c = Sigmoid(b) y = "
      "Add(c, b) }");
  const Session s(m);
  std::vector<std::vector<Datum>> in;
  std::vector<Datum> want;
  for (uint64_t i = 0; i < 4; ++i) {
    in.push_back(random_inputs(m.graph, run_inputs(m.graph), i, {{"n", static_cast<int64_t>(1 + i % 3)}}));
    want.push_back(run_reference(m, in.back())[0]);
  }
  std::vector<std::string> wrong(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20 && wrong[t].empty(); ++i)
        if (const Comparison c = compare(s.run(in[t])[0], want[t], {.rtol = 1e-4, .atol = 1e-5}); !c.same)
          wrong[t] = c.why;
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& w : wrong) EXPECT_EQ(w, "");
}

TEST(Session, SizesChangeBetweenRuns) {
  const Model m = model_of("g (float[n,8] x, float[8,5] w) => (float[m,5] y) { a = MatMul(x, w) y = Tanh(a) }");
  const Session s(m);
  for (const int64_t n : {3, 1, 7, 3}) {
    const auto in = random_inputs(m.graph, run_inputs(m.graph), 1, {{"n", n}});
    EXPECT_TRUE(compare(s.run(in)[0], run_reference(m, in)[0]).same) << n;
  }
}

TEST(Session, MoreSizesThanPlansAreKept) {
  const Model m = model_of(
      "g (float[n,3,k,9] x, float[5,3,3,3] w) => (float[n,5,a,b] y) { a = Conv<pads=[1, 1, 1, 1]>(x, w) b = Relu(a) c "
      "= Sigmoid(b) y = Add(c, b) }");
  const Session s(m);
  for (int64_t i = 0; i < 50; ++i) {
    const auto in = random_inputs(m.graph, run_inputs(m.graph), 1, {{"n", 1 + i % 2}, {"k", 3 + i * 7 % 23}});
    const Comparison c = compare(s.run(in)[0], run_reference(m, in)[0], {.rtol = 1e-4, .atol = 1e-5});
    EXPECT_TRUE(c.same) << i << ": " << c.why;
  }
}

TEST(Session, ResultsOutliveLaterRuns) {
  const Model m = model_of(
      "g (float[4] x) => (float[4] y, float[2,2] z, float[4] same) { y = Relu(x) s = Constant<value_ints=[2, 2]>() z = "
      "Reshape(y, s) same = Identity(x) }");
  const Session s(m);
  const auto in = inputs_of(m.graph, 1);
  const auto first = s.run(in);
  const auto want = run_reference(m, in);
  s.run(inputs_of(m.graph, 2));
  for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(compare(first[i], want[i]).same) << i;
}

TEST(Session, KeepsInnerValues) {
  const Model m =
      model_of("g (float[1,3,5,5] x, float[4,3,3,3] w) => (float[1,4,3,3] y) { a = Conv(x, w) y = Relu(a) }");
  SessionOptions o;
  for (uint32_t i = 0; i < m.graph.value_capacity(); ++i)
    if (m.graph[ValueId(i)].name == "a") o.keep.push_back(ValueId(i));
  const auto in = inputs_of(m.graph, 1);
  const auto out = Session(m, o).run(in);
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].tensor.shape(), (std::vector<int64_t>{1, 4, 3, 3}));
  EXPECT_LT(out[1].tensor.double_at(0), 1e9);
}

TEST(Session, WrongInputsAreRefused) {
  const Session s(model_of("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"));
  const Datum wrong(Tensor::of<float>(DType::f32, {2, 4}, std::vector<float>(8)));
  try {
    s.run(std::vector{wrong});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "run.size");
    EXPECT_NE(e.diag().hint.find("dynamic"), std::string::npos) << e.diag().hint;
  }
  const Datum flat(Tensor::of<float>(DType::f32, {3}, std::vector<float>(3)));
  try {
    s.run(std::vector{flat});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.diag().code, "run.rank");
    EXPECT_NE(e.diag().hint.find("batch"), std::string::npos) << e.diag().hint;
  }
}

}  // namespace
}  // namespace cameo::tests
