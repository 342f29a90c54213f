#include "passes/split_to_gather.h"

#include <algorithm>

#include "ops/on.h"
#include "ops/soundness.h"

namespace cameo::passes {

namespace {

// The only reader, a Squeeze of that axis alone; none: the value is read otherwise.
NodeId only_squeeze(const Graph& g, ValueId v, int64_t axis) {
  if (g[v].uses.size() != 1 || !g[v].uses[0].node) return {};
  const NodeId n = g[v].uses[0].node;
  if (!g[n].is("Squeeze") || !g.input(n, 1) || !g[v].fact.has_rank()) return {};
  const auto axes = g.constant(g.input(n, 1));
  if (!axes || axes->count() != 1) return {};
  const int64_t squeezed = axes->int_at(0);
  return (squeezed < 0 ? squeezed + g[v].fact.rank() : squeezed) == axis ? n : NodeId();
}

// The only reader, a Reshape to sizes that do not refer to those of the piece: the axis of 1 does not matter to it.
NodeId only_reshape(const Graph& g, ValueId v) {
  if (g[v].uses.size() != 1 || !g[v].uses[0].node || g[v].uses[0].index != 0) return {};
  const NodeId n = g[v].uses[0].node;
  const auto* reshape = g[n].as<op::Reshape>();
  if (!reshape || !g.input(n, 1)) return {};
  const auto sizes = g.constant(g.input(n, 1));
  if (!sizes) return {};
  const auto all = sizes->to_ints();
  return std::find(all.begin(), all.end(), 0) == all.end() ? n : NodeId();
}

Type without_axis(const Type& t, size_t axis) {
  Type out = t;
  Shape shape = *t.shape;
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  out.shape = std::move(shape);
  return out;
}

bool replace(Graph& g, NodeId n) {
  const ValueId x = g.input(n, 0);
  const auto* split = g[n].as<op::Split>();
  if (!split || !x || !g[x].fact.has_rank()) return false;
  const int64_t axis = split->axis + (split->axis < 0 ? g[x].fact.rank() : 0);
  const std::vector<ValueId> outputs = g[n].outputs;
  std::vector<NodeId> readers;
  for (const ValueId v : outputs) {
    const auto at = static_cast<size_t>(axis);
    if (!g[v].fact.has_rank() || at >= g[v].fact.shape().size() || !g[v].fact.shape()[at].is(1)) return false;
    const NodeId squeeze = only_squeeze(g, v, axis);
    readers.push_back(squeeze ? squeeze : only_reshape(g, v));
    if (!readers.back()) return false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const NodeId reader = readers[i];
    const ValueId index = g.add_constant(Tensor::int_scalar(static_cast<int64_t>(i)), "", g[n].home);
    const NodeId gather =
        g.add_node(g[reader].home, op_of<op::Gather>(), std::make_shared<const op::Gather>(op::Gather{.axis = axis}),
                   {x, index}, 1, reader);
    const ValueId made = g[gather].outputs[0];
    if (g[reader].is("Reshape")) {
      g.fact(made).type = without_axis(g[outputs[i]].fact.type, static_cast<size_t>(axis));
      g.replace_uses(outputs[i], made);
      continue;
    }
    const ValueId old = g[reader].outputs[0];
    g.fact(made).type = g[old].fact.type;
    g.set_name(gather, g[reader].name);
    const std::string name = g[old].name;
    g.replace_uses(old, made);
    g.erase(reader);
    g.label(made).name = name;
  }
  g.erase(n);
  return true;
}

}  // namespace

size_t split_to_gather(Model& m) {
  admit(m);
  size_t count = 0;
  for (uint32_t i = 0, end = m.graph.node_capacity(); i < end; ++i)
    if (!m.graph[NodeId(i)].dead && m.graph[NodeId(i)].is("Split")) count += replace(m.graph, NodeId(i));
  return count;
}

}  // namespace cameo::passes
