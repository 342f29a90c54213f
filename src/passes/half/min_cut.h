// The cheapest way to divide things into two sides.
#pragma once

#include <cstddef>
#include <vector>

namespace cameo::passes {

// Dinic's algorithm. Node 0 is the source, node 1 the sink.
class MinCut {
 public:
  static constexpr size_t source = 0, sink = 1;
  static constexpr double unbounded = 1e30;

  MinCut() : first_(2, none) {}
  size_t add_node();
  // What it costs if `from` is on the source's side and `to` on the sink's.
  void add_edge(size_t from, size_t to, double cost);
  // By node: whether it is on the source's side of a cheapest cut, the one that has the fewest nodes there.
  std::vector<bool> source_side();

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  struct Edge {
    size_t to, next;
    double left;
  };
  bool levels();
  double augment();

  std::vector<size_t> first_, level_, current_;
  std::vector<Edge> edges_;  // an edge and its reverse are neighbours
};

}  // namespace cameo::passes
