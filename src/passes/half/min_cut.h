// The cheapest way to divide things into two sides.
#pragma once

#include <cstddef>
#include <vector>

namespace cameo::passes {

// Push and relabel, from the sink to the source: what can still be reached is the side with the fewest nodes, and what
// goes through a long chain goes through it once. Node 0 is the source, node 1 the sink.
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
  size_t visits() const { return visits_; }  // of edges, as a measure of the work

 private:
  static constexpr size_t none = static_cast<size_t>(-1);
  struct Edge {
    size_t to, next;
    double left;
  };
  void measure();
  void push(size_t from, size_t edge, double flow);
  void activate(size_t v);
  void discharge(size_t v);

  std::vector<size_t> first_, label_, current_;
  std::vector<size_t> at_;                   // how many nodes have a label
  std::vector<std::vector<size_t>> active_;  // by label: those with excess
  std::vector<double> excess_;
  size_t highest_ = 0, since_ = 0, visits_ = 0;
  std::vector<Edge> edges_;  // an edge and its reverse are neighbours
};

}  // namespace cameo::passes
