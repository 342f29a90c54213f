#include "quant/insert/guard.h"

#include "ops/on.h"
#include "quant/schemes/product.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

// The node's result goes to QuantizeLinear and nowhere else, through Relu and Clip at most.
bool leads_to_quantizer(const Graph& g, NodeId n) {
  for (;;) {
    const auto& uses = g[g[n].outputs[0]].uses;
    if (uses.size() != 1 || !uses[0].node) return false;
    n = uses[0].node;
    if (g[n].is("QuantizeLinear")) return true;
    if (!g[n].is("Relu") && !g[n].is("Clip")) return false;
  }
}

// Whether all that varies among the operands is dequantized, some of it with a scale per channel.
bool reads_channels_only(const Graph& g, const Node& n) {
  bool any = false;
  for (const ValueId v : n.inputs) {
    if (!v || g.is_constant(v)) continue;
    if (!is_dequantized(g, v)) return false;
    const auto scale = g.constant(g[g[v].def].inputs[1]);
    any = any || (scale && scale->count() > 1 && !g.is_constant(g[g[v].def].inputs[0]));
  }
  return any;
}

bool has_float_parameters(const Graph& g, NodeId n) {
  const ValueId bias = g.input(n, 2);
  return !is_dequantized(g, g[n].inputs[1]) || (bias && !is_dequantized(g, bias));
}

}  // namespace

size_t guard_float_nodes(Graph& g) {
  std::vector<NodeId> found;
  for (const NodeId n : g.nodes(g.main())) {
    const Node& node = g[n];
    if (node.outputs.size() != 1 || node.is("QuantizeLinear") || node.is("DequantizeLinear")) continue;
    if (reads_channels_only(g, node) && leads_to_quantizer(g, n)) {
      found.push_back(n);
      continue;
    }
    if (!node.is("Conv") && !node.is("ConvTranspose") && !node.is("Gemm")) continue;
    if (is_dequantized(g, node.inputs[0]) && has_float_parameters(g, n) && leads_to_quantizer(g, n)) found.push_back(n);
  }
  for (const NodeId n : found) {
    const ValueId result = g[n].outputs[0];
    const Use reader = g[result].uses[0];
    On on(g, g.main(), reader.node);
    op::LeakyRelu same;
    same.alpha = 1;
    const ValueId guarded = on.make(std::move(same), {result}, 1)[0];
    if (!g[result].name.empty()) g.rename(guarded, cat(g[result].name, "_kept_float"));
    g.set_input(reader.node, reader.index, guarded);
  }
  return found.size();
}

}  // namespace cameo::quant
