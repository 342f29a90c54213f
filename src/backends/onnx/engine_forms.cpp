#include "backends/onnx/engine_forms.h"

#include <algorithm>
#include <cmath>

#include "ops/on.h"

namespace cameo::backends {

namespace {

bool pools(const Node& n) { return n.is("MaxPool") || n.is("AveragePool"); }

bool pads_with_zero(const Graph& g, NodeId n) {
  const auto* pad = g[n].as<op::Pad>();
  if (!pad || pad->mode != "constant" || g.input(n, 3) || !is_float(g[g[n].outputs[0]].fact.dtype())) return false;
  const ValueId fill = g.input(n, 2);
  if (!fill) return true;
  const auto known = g.constant(fill);
  return known && known->count() == 1 && known->double_at(0) == 0 && !std::signbit(known->double_at(0));
}

// ONNX Runtime takes a Pad of zeros into the pool after it. A MaxPool's own padding is minus infinity, so that the
// numbers differ where all elements of a window are negative; a pool whose padding is as large as its window does not
// load. It leaves a negative zero alone.
bool pad_before_pool(Graph& g, NodeId pool) {
  const ValueId x = g.input(pool, 0);
  const NodeId pad = x ? g[x].def : NodeId();
  if (!pools(g[pool]) || !pad || !pads_with_zero(g, pad)) return false;
  On on(g, g[pool].home, pool);
  const ValueId fill = on.number_like(-0.0, x);
  const bool only_pools =
      std::all_of(g[x].uses.begin(), g[x].uses.end(), [&](const Use& u) { return u.node && pools(g[u.node]); });
  if (only_pools && g[pad].inputs.size() > 2) {
    g.set_input(pad, 2, fill);
    return true;
  }
  const op::Pad attrs = *g[pad].as<op::Pad>();
  const std::string name = g[pad].name;
  const ValueId padded = on.Pad(g.input(pad, 0), g.input(pad, 1), fill, {}, attrs);
  g.set_input(pool, 0, padded);
  if (g.used(x)) return true;
  const std::string value = g[x].name;
  g.erase(pad);
  g.rename(padded, value);
  g.rename(g[padded].def, name);
  return true;
}

constexpr bool (*forms[])(Graph& g, NodeId n) = {pad_before_pool};

}  // namespace

size_t avoid_engine_faults(Model& m) {
  Graph& g = m.graph;
  size_t changed = 0;
  const uint32_t nodes = g.node_capacity();  // new ones need no second look
  for (uint32_t i = 0; i < nodes; ++i)
    for (const auto form : forms)
      if (!g[NodeId(i)].dead) changed += form(g, NodeId(i));
  return changed;
}

}  // namespace cameo::backends
