#include "quant/half/epsilons.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "quant/weights/rewrite.h"

namespace cameo::quant {

namespace {

constexpr double taken = 1e-5, near = 0.01;  // what ONNX Runtime takes; as good as that

// The operand that is a small constant, of a sum of a mean that only roots are drawn of.
std::optional<size_t> epsilon_of(const Graph& g, NodeId n) {
  const auto& uses = g[g[n].outputs[0]].uses;
  if (!g[n].is("Add") || g[n].inputs.size() != 2 || uses.empty() ||
      !std::all_of(uses.begin(), uses.end(), [&](const Use& u) { return u.node && g[u.node].is("Sqrt"); }))
    return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const ValueId epsilon = g[n].inputs[i], mean = g[n].inputs[1 - i];
    if (!g.is_constant(epsilon) || !g[mean].def || !g[g[mean].def].is("ReduceMean")) continue;
    const auto value = g.constant(epsilon, 64);
    if (!value || value->count() != 1) continue;
    const double v = value->double_at(0);
    if (v > 0 && std::fabs(v - taken) > near * taken) return i;
  }
  return std::nullopt;
}

}  // namespace

void spell_epsilons(Graph& g, std::span<const Unit> units) {
  for (const Unit& u : units) {
    if (!u.node || u.form != Form::half || g[u.node].dead || g[u.node].outputs.empty()) continue;
    const auto at = epsilon_of(g, u.node);
    if (!at) continue;
    const ValueId epsilon = g[u.node].inputs[*at], out = g[u.node].outputs[0];
    const Tensor value = *g.constant(epsilon);
    const std::vector<float> negative{static_cast<float>(-value.double_at(0))};
    On on(g, g[u.node].home, u.node);
    const ValueId made = on.Sub(g[u.node].inputs[1 - *at], on.constant(store(value.dtype(), value.shape(), negative)));
    g.set_name(g[made].def, g[u.node].name);
    take_over(g, out, made);
    g.erase(u.node);
    drop_unused(g, epsilon);
  }
}

}  // namespace cameo::quant
