// What nodes cost: one table for statistics, folding and the engine's threads.
#include "ops/cost.h"

#include <gtest/gtest.h>

#include "frontends/text/parse.h"
#include "ops/infer.h"

namespace cameo::tests {
namespace {

struct Case {
  const char* name;
  const char* text;
  const char* macs;   // a formula; "": not counted
  double operations;  // -1: not known
};

class Cost : public testing::TestWithParam<Case> {};
TEST_P(Cost, IsTold) {
  DiagSink diags;
  Model m = parse_text(GetParam().text, "case", diags);
  infer(m.graph);
  const NodeId n = *m.graph.nodes(m.graph.main()).begin();
  const auto macs = ops::macs(m.graph, n);
  EXPECT_EQ(macs ? macs->text() : "", GetParam().macs);
  EXPECT_EQ(operations(m.graph, n).value_or(-1), GetParam().operations);
}

const Case cases[] = {
    {"Conv", "g (float[1,3,8,8] x, float[5,3,3,3] w) => (y) { y = Conv(x, w) }", "4860", 4860},
    {"ConvOfAnyBatch", "g (float[n,3,8,8] x, float[5,3,3,3] w) => (y) { y = Conv(x, w) }", "4860*n", -1},
    {"GroupedConv", "g (float[1,4,8,8] x, float[4,1,3,3] w) => (y) { y = Conv<group=4>(x, w) }", "1296", 1296},
    {"ConvTranspose", "g (float[1,3,4,4] x, float[3,5,2,2] w) => (y) { y = ConvTranspose(x, w) }", "960", 960},
    {"MatMul", "g (float[2,3,4] x, float[4,5] w) => (y) { y = MatMul(x, w) }", "120", 120},
    {"Gemm", "g (float[3,4] x, float[5,4] w) => (y) { y = Gemm<transB=1>(x, w) }", "60", 60},
    {"Attention", "g (float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,6] v) => (y) { y = Attention(q, k, v) }", "300",
     300},
    {"AttentionInThreeAxes",
     "g (float[1,3,8] q, float[1,5,8] k, float[1,5,12] v) => (y) { y = Attention<q_num_heads=2, kv_num_heads=2>(q, k, "
     "v) }",
     "300", 300},
    {"Lstm", "g (float[6,2,5] x, float[1,28,5] w, float[1,28,7] r) => (y) { y = LSTM<hidden_size=7>(x, w, r) }", "4032",
     4032},
    {"MaxPool", "g (float[1,1,4,4] x) => (y) { y = MaxPool<kernel_shape=[2, 2]>(x) }", "", 64},
    {"Relu", "g (float[4] x) => (y) { y = Relu(x) }", "", -1},
};
INSTANTIATE_TEST_SUITE_P(Ops, Cost, testing::ValuesIn(cases), [](const auto& i) { return std::string(i.param.name); });

TEST(Cost, MoreThan64BitsHoldIsUnknownToTheEngine) {
  DiagSink diags;
  Model m = parse_text("g (float[4000000000,4000000000] x, float[4000000000,4000000000] w) => (y) { y = MatMul(x, w) }",
                       "case", diags);
  infer(m.graph);
  EXPECT_FALSE(operations(m.graph, *m.graph.nodes(m.graph.main()).begin()));
}

}  // namespace
}  // namespace cameo::tests
