#include "passes/half/min_cut.h"

#include <gtest/gtest.h>

#include <random>

namespace cameo::passes {
namespace {

struct Edge {
  size_t from, to;
  double cost;
};

double cost_of(const std::vector<Edge>& edges, const std::vector<bool>& on_source_side) {
  double out = 0;
  for (const Edge& e : edges)
    if (on_source_side[e.from] && !on_source_side[e.to]) out += e.cost;
  return out;
}

double cheapest(const std::vector<Edge>& edges, size_t nodes) {
  double best = MinCut::unbounded;
  for (size_t bits = 0; bits < size_t{1} << (nodes - 2); ++bits) {
    std::vector<bool> side(nodes);
    side[MinCut::source] = true;
    for (size_t i = 2; i < nodes; ++i) side[i] = (bits >> (i - 2)) & 1;
    best = std::min(best, cost_of(edges, side));
  }
  return best;
}

TEST(MinCut, IsAsCheapAsTheBestOfAllDivisions) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t nodes = 3 + random() % 7;
    MinCut cut;
    for (size_t i = 2; i < nodes; ++i) cut.add_node();
    std::vector<Edge> edges;
    for (size_t i = 0; i < nodes * 2; ++i) {
      const Edge e{random() % nodes, random() % nodes, static_cast<double>(random() % 20)};
      if (e.from == e.to) continue;
      edges.push_back(e);
      cut.add_edge(e.from, e.to, e.cost);
    }
    const std::vector<bool> side = cut.source_side();
    EXPECT_TRUE(side[MinCut::source]);
    EXPECT_FALSE(side[MinCut::sink]);
    EXPECT_EQ(cost_of(edges, side), cheapest(edges, nodes));
  }
}

TEST(MinCut, TakesLongChains) {
  MinCut cut;
  size_t last = MinCut::source;
  for (int i = 0; i < 100000; ++i) {
    const size_t next = cut.add_node();
    cut.add_edge(last, next, i == 50000 ? 1 : 2);
    last = next;
  }
  cut.add_edge(last, MinCut::sink, 2);
  const std::vector<bool> side = cut.source_side();
  EXPECT_TRUE(side[50001]);
  EXPECT_FALSE(side[50002]);
}

// Every node of a chain takes a little of what comes from its front.
size_t visits_of_chain(size_t length) {
  MinCut cut;
  const size_t front = cut.add_node();
  cut.add_edge(MinCut::source, front, MinCut::unbounded);
  for (size_t i = 1, last = front; i < length; ++i) {
    const size_t next = cut.add_node();
    cut.add_edge(last, next, 1e6);
    cut.add_edge(next, last, 1e6);
    cut.add_edge(next, MinCut::sink, 8);
    last = next;
  }
  EXPECT_TRUE(cut.source_side()[front]);
  return cut.visits();
}

TEST(MinCut, ItsWorkGrowsWithTheChain) {
  const size_t once = visits_of_chain(20000), twice = visits_of_chain(40000);
  EXPECT_LT(twice, 2.5 * static_cast<double>(once));
  EXPECT_LT(twice, 40u * 40000);
}

}  // namespace
}  // namespace cameo::passes
