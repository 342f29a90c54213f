#include "quant/equalize.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "quant/schemes/product.h"

namespace cameo::quant {

namespace {

constexpr double most_factor = 256;

bool only_scales(const Node& n) {
  const auto* leaky = n.as<op::LeakyRelu>();
  return n.is("Relu") || (leaky && leaky->alpha >= 0);
}

bool is_plain_weight(const Graph& g, ValueId v) {
  return v && g.is_constant(v) && is_f32(g, v) && g[v].uses.size() == 1;
}

// The product whose result the value is, and nobody else's.
std::optional<Product> maker(const Graph& g, ValueId v) {
  NodeId n = g[v].def;
  if (n && only_scales(g[n]) && g[g[n].inputs[0]].uses.size() == 1) n = g[g[n].inputs[0]].def;
  auto p = n ? product_of(g, n) : std::nullopt;
  if (!p || !is_plain_weight(g, p->weight) || g[n].is("MatMul")) return std::nullopt;
  if (p->bias && (!is_plain_weight(g, p->bias) || !p->plain_bias || g.constant(p->bias)->count() != p->outputs()))
    return std::nullopt;
  return p;
}

void replace_weight(Graph& g, NodeId n, size_t i, const std::vector<float>& numbers, std::vector<int64_t> shape) {
  const std::string name = g[g[n].inputs[i]].name;
  g.set_input(n, i, g.add_constant(Tensor::of<float>(DType::f32, std::move(shape), numbers), name));
}

// Depthwise: each output channel reads one input channel, and its own scale takes the factor up at no loss. Otherwise
// half of the difference goes to the second product's weights.
std::vector<double> factors_of(const ChannelMoments& m, bool depthwise) {
  const double all = static_cast<double>(*std::max_element(m.most.begin(), m.most.end()));
  std::vector<double> out;
  for (const float most : m.most) {
    const double share = all > 0 && most > 0 ? std::max(static_cast<double>(most) / all, 1 / most_factor) : 1;
    out.push_back(depthwise ? share : std::sqrt(share));
  }
  return out;
}

void apply(Graph& g, const Product& first, const Product& second, const std::vector<double>& factors) {
  const Tensor w = *g.constant(first.weight), v = *g.constant(second.weight);
  const Loaded<float> from(w), to(v);
  std::vector<float> a(from.span().begin(), from.span().end()), b(to.span().begin(), to.span().end());
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(static_cast<double>(a[i]) /
                              factors[static_cast<size_t>(first.output(static_cast<int64_t>(i)))]);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<float>(static_cast<double>(b[i]) *
                              factors[static_cast<size_t>(second.input(static_cast<int64_t>(i)))]);
  replace_weight(g, first.node, 1, a, w.shape());
  replace_weight(g, second.node, 1, b, v.shape());
  if (!first.bias) return;
  const Tensor bias = *g.constant(first.bias);
  std::vector<float> c;
  for (const double x : bias.to_doubles()) c.push_back(static_cast<float>(x / factors[c.size()]));
  replace_weight(g, first.node, 2, c, bias.shape());
}

}  // namespace

size_t equalize(Graph& g, const std::function<const ChannelMoments*(ValueId)>& moments) {
  size_t changed = 0;
  std::vector<NodeId> nodes;
  for (const NodeId n : g.nodes(g.main())) nodes.push_back(n);
  for (const NodeId n : nodes) {
    const auto second = product_of(g, n);
    if (!second || !is_plain_weight(g, second->weight) || g[second->data].uses.size() != 1) continue;
    const auto first = maker(g, second->data);
    const ChannelMoments* m = moments(second->data);
    if (!first || !m || m->most.size() != static_cast<size_t>(first->outputs())) continue;
    const auto* conv = g[n].as<op::Conv>();
    const bool depthwise = conv && conv->group == second->shape[0] && second->shape[1] == 1;
    const auto inputs = conv ? second->shape[1] * conv->group : 0;
    if (!depthwise && (!conv || conv->group != 1 || inputs != first->outputs())) continue;
    apply(g, *first, *second, factors_of(*m, depthwise));
    ++changed;
  }
  return changed;
}

}  // namespace cameo::quant
