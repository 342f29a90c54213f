#include "passes/picture/entrance.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "passes/dce.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

bool any_but(const std::vector<double>& v, double usual) {
  return std::any_of(v.begin(), v.end(), [&](double x) { return x != usual; });
}

// The numbers of a constant that differ at most by channel; none otherwise.
std::optional<std::vector<double>> by_channel(const Graph& g, ValueId v, int64_t rank, int64_t axis) {
  constexpr int64_t most_channels = 4096;
  const auto t = g.constant(v, 8 * most_channels);
  if (!t || t->count() < 1 || t->rank() > rank) return std::nullopt;
  const int64_t missing = rank - t->rank();
  for (int64_t i = 0; i < t->rank(); ++i)
    if (t->shape()[static_cast<size_t>(i)] != 1 && i + missing != axis) return std::nullopt;
  return t->to_doubles();
}

// The node as part of an affine function of its operand `x`.
std::optional<Affine> affine_of(const Graph& g, NodeId n, ValueId x, int64_t axis) {
  const Node& node = g[n];
  if (node.inputs.size() != 2) return std::nullopt;
  const bool first = g.input(n, 0) == x;
  const ValueId other = g.input(n, first ? 1 : 0);
  if (!other || other == x || !g[x].fact.has_rank()) return std::nullopt;
  const auto c = by_channel(g, other, g[x].fact.rank(), axis);
  if (!c) return std::nullopt;
  Affine out;
  const auto each = [&](auto f) {
    std::vector<double> v;
    for (const double k : *c) v.push_back(f(k));
    return v;
  };
  if (node.is("Add")) out.offset = *c;
  else if (node.is("Sub") && first) out.offset = each([](double k) { return -k; });
  else if (node.is("Mul")) out.factor = *c;
  else if (node.is("Div") && first && !std::any_of(c->begin(), c->end(), [](double k) { return k == 0; }))
    out.factor = each([](double k) { return 1 / k; });
  else return std::nullopt;
  return out;
}

Affine then(const Affine& a, const Affine& b) {
  Affine out;
  const size_t n = std::max({a.factor.size(), a.offset.size(), b.factor.size(), b.offset.size()});
  out.factor.assign(n, 1), out.offset.assign(n, 0);
  for (size_t c = 0; c < n; ++c) {
    out.factor[c] = a.factor_at(c) * b.factor_at(c);
    out.offset[c] = a.offset_at(c) * b.factor_at(c) + b.offset_at(c);
  }
  return out;
}

struct Layer {
  NodeId node;
  const op::Conv* conv;
  Tensor weights;
  std::optional<Tensor> bias;
};

// Every user as a Conv with constant weights in f32; none where there is another one.
std::optional<std::vector<Layer>> layers_at(const Graph& g, ValueId v) {
  std::vector<Layer> out;
  for (const Use& u : g[v].uses) {
    const auto* conv = u.node && u.index == 0 ? g[u.node].as<op::Conv>() : nullptr;
    if (!conv || !g.input(u.node, 1)) return std::nullopt;
    const auto w = g.constant(g.input(u.node, 1));
    if (!w || w->dtype() != DType::f32 || w->rank() < 3 || conv->group < 1) return std::nullopt;
    std::optional<Tensor> bias;
    if (const ValueId b = g.input(u.node, 2)) {
      bias = g.constant(b);
      if (!bias || bias->dtype() != DType::f32) return std::nullopt;
    }
    out.push_back({u.node, conv, *w, std::move(bias)});
  }
  return out.empty() ? std::nullopt : std::optional(std::move(out));
}

bool pads(const op::Conv& conv) {
  if (conv.auto_pad != "NOTSET" && conv.auto_pad != "VALID") return true;
  return conv.auto_pad == "NOTSET" && conv.pads &&
         std::any_of(conv.pads->begin(), conv.pads->end(), [](int64_t p) { return p != 0; });
}

// Calls f(output channel, input channel, first element, elements) for each kernel of the weights.
void each_kernel(const Layer& l, const std::function<void(int64_t, int64_t, size_t, size_t)>& f) {
  const int64_t outputs = l.weights.shape()[0], inputs = l.weights.shape()[1];
  const auto size = static_cast<size_t>(outputs > 0 && inputs > 0 ? l.weights.count() / (outputs * inputs) : 0);
  const int64_t per_group = std::max<int64_t>(outputs / l.conv->group, 1);
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i)
      f(o, o / per_group * inputs + i, static_cast<size_t>(o * inputs + i) * size, size);
}

bool all_read(const std::vector<Layer>& layers, int64_t channels) {
  return std::all_of(layers.begin(), layers.end(),
                     [&](const Layer& l) { return l.weights.shape()[1] * l.conv->group == channels; });
}

void set_operand(Graph& g, NodeId n, size_t i, const Tensor& t) {
  const ValueId before = g.input(n, i);
  const std::string name = before ? g[before].name : "";
  g.set_input(n, i, g.add_constant(t, name.empty() ? "" : cat(name, ".prepared")));
}

}  // namespace

bool Affine::moves() const { return any_but(offset, 0); }
bool Affine::scales() const { return any_but(factor, 1); }

std::optional<Entrance> normalisation_of(const Graph& g) {
  ValueId input;
  for (const ValueId v : g[g.main()].inputs) {
    if (g[v].weight) continue;
    if (!g[v].fact.has_rank() || g[v].fact.rank() != 4) continue;
    if (input) return std::nullopt;
    input = v;
  }
  if (!input) return std::nullopt;
  const Shape& s = g[input].fact.shape();
  const auto few = [](Dim d) { return d.is(1) || d.is(3); };
  Entrance e{input, input, {}, 0, few(s[3]) && !few(s[1]) ? 3 : 1};
  while (g[e.result].uses.size() == 1 && g[e.result].uses[0].node) {
    const NodeId n = g[e.result].uses[0].node;
    const auto more = affine_of(g, n, e.result, e.channels_axis);
    if (!more) break;
    e.affine = then(e.affine, *more);
    e.result = g[n].outputs[0];
    ++e.nodes;
  }
  const auto& uses = g[e.result].uses;
  if (std::any_of(uses.begin(), uses.end(), [](const Use& u) { return !u.node; })) return std::nullopt;  // an output
  return e.nodes ? std::optional(e) : std::nullopt;
}

void remove_normalisation(Graph& g, const Entrance& e) {
  g.replace_uses(e.result, e.input);
  remove_dead_code(g);
}

void apply_affine(Graph& g, ValueId v, const Affine& affine, int64_t channels_axis) {
  if (!affine.moves() && !affine.scales()) return;
  On on(g, g.main(), g[g.main()].first);
  const std::vector<Use> uses = g[v].uses;
  const auto numbers = [&](const std::vector<double>& all) {
    std::vector<int64_t> shape(static_cast<size_t>(g[v].fact.rank()), 1);
    shape[static_cast<size_t>(channels_axis)] = static_cast<int64_t>(all.size());
    return on.cast(on.constant(store(DType::f32, shape, std::vector<float>(all.begin(), all.end()))),
                   g[v].fact.dtype());
  };
  ValueId x = v;
  if (affine.scales()) x = on.Mul(x, numbers(affine.factor));
  if (affine.moves()) x = on.Add(x, numbers(affine.offset));
  for (const Use& u : uses)
    if (u.node) g.set_input(u.node, u.index, x);
}

Folded fold_affine(Graph& g, ValueId v, const Affine& affine) {
  Folded out{affine};
  auto layers = layers_at(g, v);
  if (!layers || (!affine.moves() && !affine.scales())) return out;
  const size_t channels = std::max(affine.factor.size(), affine.offset.size());
  if (channels > 1 && !all_read(*layers, static_cast<int64_t>(channels))) return out;
  const bool offsets =
      affine.moves() && std::none_of(layers->begin(), layers->end(), [](const Layer& l) { return pads(*l.conv); });
  for (const Layer& l : *layers) {
    std::vector<float> w(l.weights.as<float>().begin(), l.weights.as<float>().end());
    std::vector<double> added(static_cast<size_t>(l.weights.shape()[0]));
    each_kernel(l, [&](int64_t o, int64_t i, size_t first, size_t size) {
      const auto c = static_cast<size_t>(i);
      for (size_t k = first; k < first + size; ++k) {
        if (offsets) added[static_cast<size_t>(o)] += static_cast<double>(w[k]) * affine.offset_at(c);
        w[k] = static_cast<float>(static_cast<double>(w[k]) * affine.factor_at(c));
      }
    });
    set_operand(g, l.node, 1, Tensor::of(DType::f32, l.weights.shape(), std::span<const float>(w)));
    if (!offsets) continue;
    std::vector<float> b;
    for (size_t o = 0; o < added.size(); ++o)
      b.push_back(static_cast<float>(added[o] + (l.bias ? l.bias->double_at(static_cast<int64_t>(o)) : 0)));
    set_operand(g, l.node, 2, Tensor::of(DType::f32, {static_cast<int64_t>(b.size())}, std::span<const float>(b)));
  }
  out.factor = affine.scales(), out.offset = offsets;
  // What is left has to be done before the factors, which are in the weights now.
  std::vector<double> left;
  for (size_t c = 0; c < std::max(affine.factor.size(), affine.offset.size()); ++c)
    left.push_back(offsets ? 0 : affine.offset_at(c) / affine.factor_at(c));
  out.rest = {{1}, left};
  return out;
}

bool fold_reversal(Graph& g, ValueId v) {
  const auto layers = layers_at(g, v);
  constexpr int64_t colours = 3;
  if (!layers || !all_read(*layers, colours)) return false;
  if (std::any_of(layers->begin(), layers->end(), [](const Layer& l) { return l.conv->group != 1; })) return false;
  for (const Layer& l : *layers) {
    const auto from = l.weights.as<float>();
    std::vector<float> w(from.size());
    const int64_t channels = l.weights.shape()[1];
    each_kernel(l, [&](int64_t, int64_t i, size_t first, size_t size) {
      const size_t other = first + static_cast<size_t>(channels - 1 - 2 * i) * size;
      std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(other), size,
                  w.begin() + static_cast<std::ptrdiff_t>(first));
    });
    set_operand(g, l.node, 1, Tensor::of(DType::f32, l.weights.shape(), std::span<const float>(w)));
  }
  return true;
}

}  // namespace cameo::passes
