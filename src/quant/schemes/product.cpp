#include "quant/schemes/product.h"

#include "ops/on.h"

namespace cameo::quant {

bool is_dequantized(const Graph& g, ValueId v) { return v && g[v].def && g[g[v].def].is("DequantizeLinear"); }

bool is_f32(const Graph& g, ValueId v) { return v && g[v].fact.type.is_tensor() && g[v].fact.dtype() == DType::f32; }

namespace {

// The shape of a constant f32 weight; empty where it is none. Weights that a model holds quantized count too.
std::vector<int64_t> weight_shape(const Graph& g, ValueId v) {
  if (!is_f32(g, v) || !(g.is_constant(v) || is_dequantized(g, v)) || !g[v].fact.has_rank()) return {};
  if (is_dequantized(g, v)) {
    const ValueId from = g[g[v].def].inputs[0];
    const NodeId quantizer = g[from].def;
    if (!g.is_constant(from) &&
        !(quantizer && g[quantizer].is("QuantizeLinear") && g.is_constant(g[quantizer].inputs[0])))
      return {};
  }
  std::vector<int64_t> out;
  for (const Dim d : g[v].fact.shape()) {
    if (!d.is_literal() || d.literal() <= 0) return {};
    out.push_back(d.literal());
  }
  return out;
}

int64_t product(const std::vector<int64_t>& shape, size_t from) {
  int64_t out = 1;
  for (size_t i = from; i < shape.size(); ++i) out *= shape[i];
  return out;
}

}  // namespace

std::optional<Product> product_of(const Graph& g, NodeId n) {
  const Node& node = g[n];
  if (node.inputs.size() < 2 || node.outputs.size() != 1 || !is_f32(g, node.inputs[0])) return std::nullopt;
  Product p;
  p.node = n;
  p.data = node.inputs[0], p.weight = node.inputs[1], p.bias = g.input(n, 2);
  p.shape = weight_shape(g, p.weight);
  if (p.shape.empty() || g.is_constant(p.data)) return std::nullopt;
  const auto last = static_cast<int64_t>(p.shape.size()) - 1;
  if (const auto* conv = node.as<op::Conv>(); conv && p.shape.size() >= 3) {
    p.inner_ = product(p.shape, 1), p.input_inner_ = product(p.shape, 2), p.inputs_ = p.shape[1];
    p.groups_ = conv->group, p.group_by_output_ = true;
    return p.groups_ >= 1 && p.shape[0] % p.groups_ == 0 ? std::optional(p) : std::nullopt;
  }
  if (const auto* conv = node.as<op::ConvTranspose>(); conv && p.shape.size() >= 3) {
    p.weight_axis = 1, p.inner_ = product(p.shape, 2), p.input_inner_ = product(p.shape, 1), p.inputs_ = p.shape[0];
    p.groups_ = conv->group;
    return p.groups_ >= 1 && p.shape[0] % p.groups_ == 0 ? std::optional(p) : std::nullopt;
  }
  if (const auto* gemm = node.as<op::Gemm>(); gemm && p.shape.size() == 2) {
    p.weight_axis = gemm->transB ? 0 : 1;
    p.inner_ = gemm->transB ? p.shape[1] : 1;
    p.input_inner_ = gemm->transB ? 1 : p.shape[1];
    p.inputs_ = gemm->transB ? p.shape[1] : p.shape[0];
    p.data_axis = gemm->transA ? 0 : 1;
    p.plain_bias = gemm->alpha == 1 && gemm->beta == 1;
    if (p.bias && g[p.bias].fact.has_rank()) p.bias_axis = g[p.bias].fact.rank() - 1;
    return p;
  }
  if (node.is("MatMul") && p.shape.size() >= 2) {
    p.weight_axis = last, p.inner_ = 1;
    p.input_inner_ = p.shape.back(), p.inputs_ = p.shape[p.shape.size() - 2];
    p.data_axis = g[p.data].fact.has_rank() ? g[p.data].fact.rank() - 1 : -1;
    p.bias = {};
    return p;
  }
  return std::nullopt;
}

}  // namespace cameo::quant
