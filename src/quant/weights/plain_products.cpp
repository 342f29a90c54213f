#include "quant/weights/plain_products.h"

#include "ops/on.h"
#include "ops/soundness.h"
#include "quant/weights/rewrite.h"

namespace cameo::quant {

namespace {

bool is_matrix(const Graph& g, ValueId v) {
  const Fact& f = g[v].fact;
  return g.is_constant(v) && f.type.is_tensor() && f.has_rank() && f.rank() == 2 && is_float(f.dtype());
}

// With its last two axes swapped; the rank is known.
ValueId swapped(ops::On& on, ValueId v) {
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < on.rank(v); ++i) perm.push_back(i);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return on.Transpose(v, {.perm = perm});
}

ValueId scaled(ops::On& on, ValueId v, float by) {
  return by == 1 ? v : on.Mul(v, on.number_like(static_cast<double>(by), v));
}

void replace(Graph& g, NodeId n, ValueId made) {
  take_over(g, g[n].outputs[0], made);
  g.erase(n);
}

void plain_gemm(Graph& g, NodeId n, const op::Gemm& a) {
  ops::On on(g, g[n].home, n);
  const ValueId x = g[n].inputs[0], w = g[n].inputs[1], bias = g.input(n, 2);
  const ValueId product = on.Gemm(a.transA ? swapped(on, x) : x, w, {}, {.transB = a.transB});
  g.set_name(g[product].def, g[n].name);
  const ValueId y = scaled(on, product, a.alpha);
  replace(g, n, bias ? on.Add(y, scaled(on, bias, a.beta)) : y);
}

// weight * x is the transpose of what x's transpose times the weight's is.
void weight_to_the_right(Graph& g, NodeId n) {
  ops::On on(g, g[n].home, n);
  const ValueId w = g[n].inputs[0], x = g[n].inputs[1];
  const ValueId product = on.MatMul(swapped(on, x), swapped(on, w));
  g.set_name(g[product].def, g[n].name);
  replace(g, n, swapped(on, product));
}

}  // namespace

void plain_products(Graph& g, const std::function<bool(NodeId product, ValueId weight)>& nodes) {
  const auto before = static_cast<uint32_t>(g.node_capacity());
  for (uint32_t i = 0; i < before; ++i) {
    const NodeId n(i);
    if (g[n].dead || g[n].outputs.empty() || !ops::has_operands(g[n]) || g[n].inputs.size() < 2 ||
        g[n].inputs[0] == g[n].inputs[1])
      continue;
    if (const auto* gemm = g[n].as<op::Gemm>()) {
      const op::Gemm attrs = *gemm;
      if ((attrs.alpha == 1 && (attrs.beta == 1 || !g.input(n, 2)) && !attrs.transA) || !is_matrix(g, g[n].inputs[1]) ||
          !nodes(n, g[n].inputs[1]))
        continue;
      plain_gemm(g, n, attrs);
    } else if (g[n].is("MatMul") && is_matrix(g, g[n].inputs[0]) && !g.is_constant(g[n].inputs[1])) {
      const Fact& x = g[g[n].inputs[1]].fact;
      if (x.has_rank() && x.rank() >= 2 && nodes(n, g[n].inputs[0])) weight_to_the_right(g, n);
    }
  }
}

}  // namespace cameo::quant
