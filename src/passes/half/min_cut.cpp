#include "passes/half/min_cut.h"

#include <algorithm>

#include "support/budget.h"

namespace cameo::passes {

namespace {
constexpr double nothing = 1e-9;
}

size_t MinCut::add_node() {
  first_.push_back(none);
  return first_.size() - 1;
}

void MinCut::add_edge(size_t from, size_t to, double cost) {
  edges_.push_back({to, first_[from], cost});
  first_[from] = edges_.size() - 1;
  edges_.push_back({from, first_[to], 0});
  first_[to] = edges_.size() - 1;
}

bool MinCut::levels() {
  level_.assign(first_.size(), none);
  level_[source] = 0;
  std::vector<size_t> queue{source};
  for (size_t at = 0; at < queue.size(); ++at)
    for (size_t e = first_[queue[at]]; e != none; e = edges_[e].next)
      if (edges_[e].left > nothing && level_[edges_[e].to] == none) {
        level_[edges_[e].to] = level_[queue[at]] + 1;
        queue.push_back(edges_[e].to);
      }
  return level_[sink] != none;
}

// One path from source to sink along rising levels, without recursion: graphs are as long as models are deep.
double MinCut::augment() {
  std::vector<size_t> path;
  size_t at = source;
  while (at != sink) {
    size_t& e = current_[at];
    while (e != none && !(edges_[e].left > nothing && level_[edges_[e].to] == level_[at] + 1)) e = edges_[e].next;
    if (e != none) {
      path.push_back(e);
      at = edges_[e].to;
      continue;
    }
    if (path.empty()) return 0;
    level_[at] = none;  // leads nowhere
    at = edges_[path.back() ^ 1].to;
    path.pop_back();
  }
  double flow = unbounded;
  for (const size_t e : path) flow = std::min(flow, edges_[e].left);
  for (const size_t e : path) edges_[e].left -= flow, edges_[e ^ 1].left += flow;
  return flow;
}

std::vector<bool> MinCut::source_side() {
  while (levels()) {
    support::checkpoint();
    current_ = first_;
    while (augment() > 0) support::checkpoint();
  }
  std::vector<bool> out(first_.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = level_[i] != none;
  return out;
}

}  // namespace cameo::passes
