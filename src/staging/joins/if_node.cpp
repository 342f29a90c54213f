// `If` nodes, and what their regions give.
#include <algorithm>

#include "staging/machine/machine.h"

namespace cameo::staging {

std::vector<V> Machine::if_of(V condition, const Sides& sides, const std::array<std::vector<V>, 2>& outs,
                              std::span<const Type> types) {
  const NodeId node = graph.add_node(on.region(), op_of<op::If>(), nullptr, {condition}, 0);
  graph.set_region(node, 0, sides[1]);  // graph attributes are else_branch, then_branch
  graph.set_region(node, 1, sides[0]);
  graph.label(sides[0]).name = "then";
  graph.label(sides[1]).name = "else";
  for (const size_t side : {0, 1}) graph.set_region_outputs(sides[side], own_outputs(sides[side], outs[side]));
  std::vector<V> out;
  for (const Type& t : types) {
    const ValueId v = graph.add_output(node);
    graph.fact(v).type = t;
    if (t.has_rank())
      for (int64_t i = 0; i < t.rank(); ++i) on.bind_axis((*t.shape)[static_cast<size_t>(i)], v, i);
    out.push_back(v);
  }
  if (on.on_node) on.on_node(node);
  return out;
}

V Machine::if_of(V condition, const std::function<V()>& then, V otherwise) {
  const RegionId outer = on.region();
  const Sides sides{graph.add_region(outer), graph.add_region(outer)};
  const size_t facts = graph.facts.mark();
  on.move_to(sides[0]);
  const V made = then();
  on.move_to(outer);
  graph.facts.rewind(facts);
  const Type type = graph[otherwise.id].fact.type;
  return if_of(condition, sides, {std::vector{made}, std::vector{otherwise}}, {&type, 1})[0];
}

std::vector<ValueId> Machine::own_outputs(RegionId region, std::span<const V> values) {
  std::vector<ValueId> out;
  for (const V v : values) {
    const auto& value = graph[v.id];
    const bool own = value.home == region && value.kind == ir::Value::Kind::node_output &&
                     std::find(out.begin(), out.end(), v.id) == out.end();
    if (own) {
      out.push_back(v);
      continue;
    }
    out.push_back(copy_of(v, region));
  }
  return out;
}

V Machine::copy_of(V v, RegionId region) {
  // Not through the builder, which would fold it away.
  const NodeId n = graph.add_node(region, op_of<op::Identity>(), nullptr, {v});
  graph.fact(graph[n].outputs[0]) = Fact(graph[v.id].fact);
  if (on.on_node) on.on_node(n);
  return graph[n].outputs[0];
}

}  // namespace cameo::staging
