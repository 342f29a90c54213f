#include "engine/deferred_constants.h"

#include "engine/simd/half.h"
#include "ops/eval.h"
#include "support/error.h"

namespace cameo::engine {

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
