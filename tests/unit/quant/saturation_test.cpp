#include "quant/schemes/saturation.h"

#include <gtest/gtest.h>

#include "unit/engine/models.h"

namespace cameo::tests {

using namespace quant;

namespace {

ValueId value(const Graph& g, std::string_view name) {
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (g[ValueId(i)].name == name) return ValueId(i);
  throw error("test.none", std::string(name));
}

}  // namespace

// No sample needs to have shown a detector what it looks for.
TEST(Saturation, ScoresMayBeOnEitherSide) {
  const Model m = model_of(
      "g (float[1,4,8,8] x, float[4,4,1,1] w, int64[3] k) => (y) { a = Conv(x, w)  b = Conv(x, w)  r = Reshape(a, k)  "
      "q = Reshape(b, k)  c = Concat<axis=2>(r, q)  s = Sigmoid(c)  t = Transpose<perm=[0,2,1]>(s)  y = "
      "Concat<axis=1>(t, t) }");
  const Graph& g = m.graph;
  for (const char* name : {"a", "r", "q", "c"}) {
    EXPECT_LT(decisive_range(g, value(g, name)).low, -7) << name;
    EXPECT_GT(decisive_range(g, value(g, name)).high, 5) << name;
  }
  for (const char* name : {"s", "t", "y"}) EXPECT_EQ(decisive_range(g, value(g, name)), (Range{0, 1})) << name;
  EXPECT_EQ(decisive_range(g, value(g, "x")), Range());
}

TEST(Saturation, GatesInsideOfAModelDecideNothing) {
  const Model m = model_of(
      "g (float[1,4,8,8] x, float[4,4,1,1] w) => (y) { a = Conv(x, w)  s = Sigmoid(a)  b = Mul(a, s)  y = Conv(b, w) "
      "}");
  const Graph& g = m.graph;
  for (const char* name : {"a", "s", "b"}) EXPECT_EQ(decisive_range(g, value(g, name)), Range()) << name;
}

}  // namespace cameo::tests
