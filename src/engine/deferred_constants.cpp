#include "engine/deferred_constants.h"

#include <algorithm>

#include "engine/simd/half.h"
#include "ops/eval.h"
#include "support/error.h"

namespace cameo::engine {

NodeId deferred_constant(const Graph& g, ValueId v) {
  const NodeId n = v ? g[v].def : NodeId();
  if (!n || !g.input(n, 0) || !(g[n].is("Cast") || g[n].is("DequantizeLinear")) || !g[v].fact.type.is_tensor() ||
      g[v].fact.dtype() != DType::f32)
    return {};
  if (g[n].is("Cast") && !(g[g[n].inputs[0]].fact.type.is_tensor() && is_half(g[g[n].inputs[0]].fact.dtype())))
    return {};
  const auto& in = g[n].inputs;
  return std::all_of(in.begin(), in.end(), [&](ValueId i) { return !i || g.is_constant(i); }) ? n : NodeId();
}

Tensor deferred_value(const Graph& g, NodeId n) {
  if (g[n].is("Cast")) return widened(*g.constant(g[n].inputs[0]));
  std::vector<Datum> values(g[n].inputs.size());
  std::vector<const Datum*> inputs(values.size(), nullptr);
  for (size_t i = 0; i < values.size(); ++i)
    if (const ValueId v = g[n].inputs[i]) values[i] = Datum(*g.constant(v)), inputs[i] = &values[i];
  return evaluate_node(g[n], inputs).at(0).tensor;
}

std::optional<Tensor> known(const Graph& g, ValueId v) {
  if (const NodeId n = deferred_constant(g, v)) return deferred_value(g, n);
  return v && g.is_constant(v) ? g.constant(v) : std::nullopt;
}

}  // namespace cameo::engine
