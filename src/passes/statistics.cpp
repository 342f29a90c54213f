#include "passes/statistics.h"

#include <algorithm>
#include <map>

#include "ops/cost.h"
#include "ops/infer.h"
#include "ops/inline.h"
#include "ops/op_def.h"
#include "support/budget.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

void count_work(const Graph& g, NodeId n, Statistics& s) {
  if (!multiplies(g[n])) return;
  const auto depends_on_data = [](Dim d) {
    const auto symbols = symbols_of(d);
    return std::any_of(symbols.begin(), symbols.end(), is_fresh);
  };
  try {
    if (const auto count = macs(g, n); count && !depends_on_data(*count)) s.macs = s.macs + *count;
    else ++s.macs_unknown;
  } catch (const Error&) {
    ++s.macs_unknown;  // more than 64 bits hold
  }
}

void note_dims(const Type& t, Statistics& s) {
  if (t.shape)
    for (const Dim d : *t.shape)
      for (const Dim symbol : symbols_of(d)) {
        const std::string name(symbol_name(symbol));
        if (!is_fresh(symbol) && std::find(s.dims.begin(), s.dims.end(), name) == s.dims.end()) s.dims.push_back(name);
      }
  if (t.inner) note_dims(*t.inner, s);
}

std::optional<uint64_t> bytes_with_ones(const Type& t) {
  if (!t.is_tensor() || !t.has_rank() || t.elem == DType::undefined) return std::nullopt;
  std::vector<int64_t> shape;
  for (const Dim d : *t.shape) {
    std::vector<Substitution> ones;
    for (const Dim symbol : symbols_of(d)) {
      if (is_fresh(symbol)) return std::nullopt;
      ones.push_back({symbol, Dim(1)});
    }
    const auto size = evaluate(d, ones);
    if (!size || *size < 0) return std::nullopt;
    shape.push_back(*size);
  }
  return packed_bytes(t.elem, element_count(shape));
}

// Follows the main graph in order, with the bytes of every value from its node to its last use.
class LifeTimes {
 public:
  explicit LifeTimes(const Graph& g) : g_(g) {
    for (const NodeId n : g.nodes(g.main())) position_[n.index] = order_.size(), order_.push_back(n);
    freed_.resize(order_.size() + 1);
  }

  std::optional<uint64_t> peak() {
    for (const ValueId v : g_[g_.main()].inputs)
      if (!g_[v].weight && !born(v, 0)) return std::nullopt;
    for (size_t i = 0; i < order_.size(); ++i) {
      for (const ValueId v : g_[order_[i]].outputs)
        if (g_.used(v) && !born(v, i)) return std::nullopt;
      live_ -= freed_[i];
    }
    return most_;
  }

 private:
  bool born(ValueId v, size_t at) {
    const auto bytes = bytes_with_ones(g_[v].fact.type);
    if (!bytes) return false;
    size_t end = at;
    for (const Use& u : g_[v].uses) end = std::max(end, place(u));
    live_ += *bytes;
    most_ = std::max(most_, live_);
    freed_[end] += *bytes;
    return true;
  }

  // A use inside a body counts for the node of the main graph that holds the body.
  size_t place(const Use& u) const {
    NodeId n = u.node ? u.node : g_[u.region].owner;
    while (n && g_[n].home != g_.main()) n = g_[g_[n].home].owner;
    const auto it = n ? position_.find(n.index) : position_.end();
    return it == position_.end() ? order_.size() : it->second;
  }

  const Graph& g_;
  std::vector<NodeId> order_;
  std::map<uint32_t, size_t> position_;
  std::vector<uint64_t> freed_;
  uint64_t live_ = 0, most_ = 0;
};

// The nodes that a run meets: those of functions once for each call, with the call's shapes. What cannot be inlined is
// counted as it stands.
void count_all_work(const Model& m, Statistics& s) {
  const auto count = [&](const Graph& g) {
    for (uint32_t i = 0; i < g.node_capacity(); ++i)
      if (!g[NodeId(i)].dead) count_work(g, NodeId(i), s);
  };
  if (m.functions.empty()) return count(m.graph);
  Model flat = m;
  try {
    inline_functions(flat);
    infer(flat.graph);
  } catch (const Error& e) {
    if (is_budget(e)) throw;
    return count(m.graph);
  }
  count(flat.graph);
}

}  // namespace

Statistics statistics(const Model& m) {
  const Graph& g = m.graph;
  Statistics s;
  std::map<std::string, size_t> counts;
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const Node& n = g[NodeId(i)];
    if (n.dead) continue;
    ++s.nodes;
    ++counts[n.op->domain.empty() ? std::string(n.op->name) : cat(n.op->domain, "::", n.op->name)];
  }
  count_all_work(m, s);
  for (const auto& [name, count] : counts) s.operators.push_back({name, count});
  std::stable_sort(s.operators.begin(), s.operators.end(),
                   [](const OpCount& a, const OpCount& b) { return a.count > b.count; });
  for (uint32_t i = 0; i < g.value_capacity(); ++i) {
    const Value& v = g[ValueId(i)];
    if (v.kind == Value::Kind::dead || !v.weight || v.synthetic) continue;
    ++s.weights;
    s.parameters += static_cast<uint64_t>(v.weight->count());
    s.weight_bytes += v.weight->byte_size();
  }
  for (const ValueId v : g[g.main()].inputs) note_dims(g[v].fact.type, s);
  for (const ValueId v : g[g.main()].outputs)
    if (v) note_dims(g[v].fact.type, s);
  s.peak_activation_bytes = LifeTimes(g).peak();
  return s;
}

}  // namespace cameo::passes
