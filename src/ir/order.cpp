#include "ir/order.h"

#include <unordered_set>

namespace cameo::ir {

class CanonicalOrder::Walk {
 public:
  Walk(CanonicalOrder& order, RegionId r) : order_(order), g_(order.g_), region_(r) {}

  // Iterative: chains of nodes are as long as models are deep.
  void need(NodeId root) {
    if (!begun_.insert(root).second) return;
    stack_.push_back({root, needs(root), 0});
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next == top.needs.size()) {
        out.push_back(top.node);
        stack_.pop_back();
        continue;
      }
      const NodeId n = top.needs[top.next++];
      if (begun_.insert(n).second) stack_.push_back({n, needs(n), 0});
    }
  }

  std::vector<NodeId> out;

 private:
  struct Frame {
    NodeId node;
    std::vector<NodeId> needs;
    size_t next;
  };

  std::vector<NodeId> needs(NodeId n) {
    std::vector<NodeId> found;
    const auto add = [&](ValueId v) {
      if (v && g_[v].kind == Value::Kind::node_output && g_[v].home == region_) found.push_back(g_[v].def);
    };
    for (const ValueId v : g_[n].inputs) add(v);
    for (const RegionId r : g_[n].regions)
      if (r)
        for (const ValueId v : order_.captured(r)) add(v);
    return found;
  }

  CanonicalOrder& order_;
  const Graph& g_;
  RegionId region_;
  std::vector<Frame> stack_;
  std::unordered_set<NodeId> begun_;
};

const std::vector<NodeId>& CanonicalOrder::nodes(RegionId r) {
  if (const auto it = nodes_.find(r); it != nodes_.end()) return it->second;
  Walk walk(*this, r);
  for (const ValueId v : g_[r].outputs)
    if (g_[v].kind == Value::Kind::node_output && g_[v].home == r) walk.need(g_[v].def);
  for (const NodeId n : g_.nodes(r)) walk.need(n);
  return nodes_[r] = std::move(walk.out);
}

const std::vector<ValueId>& CanonicalOrder::captured(RegionId body) {
  if (const auto it = captured_.find(body); it != captured_.end()) return it->second;
  std::vector<ValueId> out;
  std::unordered_set<ValueId> seen;
  const auto visit = [&](ValueId v) {
    if (v && g_[v].home != body && !g_.is_inside(g_[v].home, body) && seen.insert(v).second) out.push_back(v);
  };
  for (const NodeId n : nodes(body)) {
    for (const ValueId v : g_[n].inputs) visit(v);
    for (const RegionId r : g_[n].regions)
      if (r)
        for (const ValueId v : captured(r)) visit(v);
  }
  for (const ValueId v : g_[body].outputs) visit(v);
  return captured_[body] = std::move(out);
}

std::vector<ValueId> CanonicalOrder::initializers(RegionId r) {
  std::vector<ValueId> out;
  std::unordered_set<ValueId> seen;
  const auto visit = [&](ValueId v) {
    if (v && g_[v].kind == Value::Kind::initializer && g_[v].home == r && seen.insert(v).second) out.push_back(v);
  };
  for (const NodeId n : nodes(r)) {
    for (const ValueId v : g_[n].inputs) visit(v);
    for (const RegionId body : g_[n].regions)
      if (body)
        for (const ValueId v : captured(body)) visit(v);
  }
  for (const ValueId v : g_[r].outputs) visit(v);
  for (const ValueId v : g_[r].initializers) visit(v);
  return out;
}

}  // namespace cameo::ir
