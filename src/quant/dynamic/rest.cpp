#include "quant/dynamic/rest.h"

#include <algorithm>

#include "ops/op_def.h"
#include "quant/schemes/product.h"
#include "runtime/watch.h"

namespace cameo::quant {

namespace {

bool is_named(const Graph& g, NodeId n, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& p) { return g[n].op->name == p || runtime::matches(g, n, p); });
}

// Convolutions of integers are slower than those of f32 where their sums are not rounded at once.
bool is_rest(const Graph& g, NodeId n) {
  if (g[n].is("LSTM")) return true;
  if (g[n].home == g.main() || !(g[n].is("MatMul") || g[n].is("Gemm"))) return false;
  const auto p = product_of(g, n);
  return p && g.is_constant(p->weight);
}

}  // namespace

std::vector<DynamicRow> quantize_rest(Model& m, const std::vector<std::string>& keep) {
  DynamicOptions o;
  o.only = [&](NodeId n) { return is_rest(m.graph, n) && !is_named(m.graph, n, keep); };
  std::vector<DynamicRow> rows;
  bool any = false;
  for (uint32_t i = 0; i < m.graph.node_capacity(); ++i)
    if (const NodeId n(i); !m.graph[n].dead && !m.graph[n].outputs.empty() && o.only(n)) any = true;
  if (!any) return {};
  try {
    rows = quantize_dynamic(m, o);
  } catch (const Error& e) {
    if (e.diag().code != "quantize.nothing") throw;
    return {};
  }
  std::erase_if(rows, [](const DynamicRow& r) { return !r.quantized; });
  return rows;
}

}  // namespace cameo::quant
