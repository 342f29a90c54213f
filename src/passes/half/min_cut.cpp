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

// How far each node is from the source, along edges that can take more.
void MinCut::measure() {
  const size_t beyond = first_.size();
  label_.assign(beyond, beyond);
  at_.assign(beyond + 1, 0);
  active_.assign(beyond, {});
  highest_ = 0;
  label_[source] = 0;
  std::vector<size_t> queue{source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (size_t e = first_[queue[i]]; e != none; e = edges_[e].next)
      if (const size_t to = edges_[e].to; to != sink && edges_[e].left > nothing && label_[to] == beyond) {
        label_[to] = label_[queue[i]] + 1;
        queue.push_back(to);
      }
  for (size_t v = 0; v < beyond; ++v) {
    ++at_[label_[v]];
    if (v != source && excess_[v] > nothing && label_[v] < beyond) activate(v);
  }
  current_ = first_;
  since_ = 0;
}

void MinCut::push(size_t from, size_t edge, double flow) {
  Edge &back = edges_[edge ^ 1], &e = edges_[edge];
  back.left -= flow;
  e.left += flow;
  excess_[from] -= flow;
  const bool was_active = excess_[e.to] > nothing;
  excess_[e.to] += flow;
  if (!was_active && e.to != source && label_[e.to] < first_.size()) activate(e.to);
}

void MinCut::activate(size_t v) {
  active_[label_[v]].push_back(v);
  highest_ = std::max(highest_, label_[v]);
}

// Gives the excess of a node to those that are nearer to the source, until it has none or is cut off.
void MinCut::discharge(size_t v) {
  const size_t beyond = first_.size();
  while (excess_[v] > nothing && label_[v] < beyond) {
    ++since_;
    ++visits_;
    if (size_t& e = current_[v]; e != none) {
      const double room = edges_[e ^ 1].left;
      if (room > nothing && label_[v] == label_[edges_[e].to] + 1) push(v, e, std::min(room, excess_[v]));
      else e = edges_[e].next;
      continue;
    }
    size_t nearest = beyond;
    for (size_t e = first_[v]; e != none; e = edges_[e].next, ++since_, ++visits_)
      if (edges_[e ^ 1].left > nothing) nearest = std::min(nearest, label_[edges_[e].to] + 1);
    if (--at_[label_[v]] == 0) nearest = beyond;  // nobody is left on the way
    label_[v] = std::max(label_[v], nearest);
    ++at_[label_[v]];
    current_[v] = first_[v];
  }
}

std::vector<bool> MinCut::source_side() {
  const size_t beyond = first_.size();
  double most = 1;  // more than any cut costs whose edges are bounded
  for (const Edge& e : edges_)
    if (e.left < unbounded) most += e.left;
  excess_.assign(beyond, 0);
  label_.assign(beyond, beyond);
  for (size_t e = first_[sink]; e != none; e = edges_[e].next)
    if (const double room = std::min(edges_[e ^ 1].left, most); room > nothing) push(sink, e, room);
  measure();
  while (true) {
    while (highest_ > 0 && active_[highest_].empty()) --highest_;
    if (highest_ == 0) break;
    support::checkpoint();
    const size_t v = active_[highest_].back();
    active_[highest_].pop_back();
    if (label_[v] == highest_) discharge(v);
    if (since_ > beyond + edges_.size()) measure();
  }
  measure();
  std::vector<bool> out(beyond);
  for (size_t i = 0; i < out.size(); ++i) out[i] = label_[i] < beyond;
  return out;
}

}  // namespace cameo::passes
