#include "api/simplify_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "frontends/text/parse.h"

namespace cameo::tests {

namespace {

Model parsed(std::string_view text) {
  DiagSink diags;
  return parse_text(text, "", diags);
}

constexpr std::string_view scaled = R"(
g (float[N,3] x) => (float[N,3] y) <float a = {0.1}, float b = {0.3}> { i = Identity(x)  p = Mul(i, a)  q = Mul(p, b)  y = Relu(q) })";

TEST(SimplifyCheck, FindsTheRewriteThatChangesAnOutputAndUndoesIt) {
  Model m = parsed(scaled);
  CheckOptions exact;
  exact.tolerance = {.rtol = 0, .atol = 0};
  const CheckedResult r = simplify_checked(m, 21, {}, exact);
  ASSERT_EQ(r.undone.size(), 1u);
  EXPECT_EQ(r.undone[0].rule, "mul-mul");
  EXPECT_EQ(m.graph.node_count(), 3u);  // the Identity went all the same
  EXPECT_EQ(r.compared, 3u);
}

TEST(SimplifyCheck, LeavesRoundingAloneWithinTheTolerance) {
  Model m = parsed(scaled);
  const CheckedResult r = simplify_checked(m, 21, {}, {});
  EXPECT_TRUE(r.undone.empty());
  EXPECT_EQ(m.graph.node_count(), 2u);
}

TEST(SimplifyCheck, SaysWhichInputsItCannotMakeUp) {
  Model m = parsed("g (string[N] x) => (string[N] y) { i = Identity(x)  y = Identity(i) }");
  const CheckedResult r = simplify_checked(m, 21, {}, {});
  EXPECT_EQ(r.compared, 0u);
  ASSERT_EQ(r.skipped.size(), 3u);
}

// Where others draw from [0, 1), faults with negative data stay unseen.
TEST(SimplifyCheck, InputsAreSignedLargeAndZeroOfSeveralSizes) {
  const Model m = parsed("g (float[N,100] x) => (float[N,100] y) { y = Relu(x) }");
  double lowest = 0, highest = 0;
  size_t zeros = 0;
  std::set<int64_t> sizes;
  for (int64_t set = 0; set < 3; ++set) {
    const auto inputs = made_up_inputs(m.graph, set, {});
    sizes.insert(inputs[0].tensor.shape()[0]);
    for (const double d : inputs[0].tensor.to_doubles()) {
      lowest = std::min(lowest, d);
      highest = std::max(highest, d);
      zeros += d == 0;
    }
  }
  EXPECT_LT(lowest, -20);
  EXPECT_GT(highest, 20);
  EXPECT_GT(zeros, 20u);
  EXPECT_EQ(sizes.size(), 3u);
}

TEST(SimplifyCheck, AnApplicationMayBeVetoedByItsKey) {
  Model m = parsed(scaled);
  SimplifyOptions o;
  o.veto = {"mul-mul@q"};
  const SimplifyResult r = simplify(m, o);
  for (const Application& a : r.ledger) EXPECT_NE(a.rule, "mul-mul");
  EXPECT_EQ(m.graph.node_count(), 3u);
}

}  // namespace

}  // namespace cameo::tests
