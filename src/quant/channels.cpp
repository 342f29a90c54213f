#include "quant/channels.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "quant/schemes/product.h"
#include "quant/schemes/readers.h"
#include "quant/schemes/saturation.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

constexpr double margin = 1.5;  // of what a channel was on the samples: others go further
constexpr double least_factor = 1.0 / 64;
constexpr double worthwhile = 0.85,
                 with_a_pass = 0.6;  // of the noise that is left, if factors cost nothing or one pass
constexpr double weight_levels = 127, levels = 255;
constexpr double shares[] = {0, 0.5, 0.75, 1};  // of the difference between channels that the readers' weights take up

bool only_scales(const Node& n) {
  const auto* leaky = n.as<op::LeakyRelu>();
  return n.is("Relu") || (leaky && leaky->alpha >= 0);
}

bool is_plain_weight(const Graph& g, ValueId v) {
  return v && g.is_constant(v) && is_f32(g, v) && g[v].uses.size() == 1;
}

int64_t result_axis(const Graph& g, const Product& p) {
  return g[p.node].is("MatMul") ? static_cast<int64_t>(g[g[p.node].outputs[0]].fact.rank()) - 1 : 1;
}

// The chosen product whose result the value is, through activations that scale with it.
std::optional<Product> maker_of(const Graph& g, const Selection& s, ValueId v) {
  NodeId n = g[v].def;
  if (n && only_scales(g[n]) && g[g[n].inputs[0]].uses.size() == 1) n = g[g[n].inputs[0]].def;
  auto p = n && s.has(n) ? product_of(g, n) : std::nullopt;
  if (!p || !is_plain_weight(g, p->weight) || !g[g[n].outputs[0]].fact.has_rank()) return std::nullopt;
  if (p->bias && (!is_plain_weight(g, p->bias) || !p->plain_bias || g.constant(p->bias)->count() != p->outputs()))
    return std::nullopt;
  return p;
}

// A product in f32 whose result the value is, through activations that scale with it.
std::optional<Product> float_product(const Graph& g, ValueId v) {
  NodeId n = g[v].def;
  if (n && only_scales(g[n]) && g[g[n].inputs[0]].uses.size() == 1) n = g[g[n].inputs[0]].def;
  if (!n || !g[n].is("Conv")) return std::nullopt;
  auto p = product_of(g, n);
  if (!p || !is_plain_weight(g, p->weight) || (p->bias && !is_plain_weight(g, p->bias))) return std::nullopt;
  return p;
}

// The operand of a multiplication that has one number per channel: a squeezed gate.
std::optional<size_t> gate_of(const Graph& g, ValueId v, int64_t axis, int64_t channels) {
  const NodeId n = g[v].def;
  if (!n || !g[n].is("Mul") || g[n].inputs[0] == g[n].inputs[1]) return std::nullopt;
  for (const size_t i : {0, 1}) {
    const Fact& fact = g[g[n].inputs[i]].fact;
    if (!fact.has_rank() || !g[v].fact.has_rank() || fact.rank() != g[v].fact.rank()) continue;
    bool gate = true;
    for (int64_t k = axis; k < static_cast<int64_t>(fact.rank()); ++k) {
      const Dim d = fact.shape()[static_cast<size_t>(k)];
      gate = gate && d.is_literal() && d.literal() == (k == axis ? channels : 1);
    }
    if (gate) return i;
  }
  return std::nullopt;
}

Tensor with_numbers(const Tensor& like, const std::vector<float>& numbers) {
  return Tensor::of<float>(DType::f32, like.shape(), numbers);
}

void replace_constant(Graph& g, NodeId n, size_t i, const std::vector<float>& numbers) {
  const ValueId old = g[n].inputs[i];
  const std::string name = g[old].name;
  g.set_input(n, i, g.add_constant(with_numbers(*g.constant(old), numbers), name));
}

template <typename Factor>
void scale_weight(Graph& g, const Product& p, const Factor& factor) {
  const Tensor dense = *g.constant(p.weight);
  const Loaded<float> loaded(dense);
  std::vector<float> w(loaded.span().begin(), loaded.span().end());
  Product::Walk at(p);
  for (float& x : w) x = static_cast<float>(static_cast<double>(x) * factor(at)), at.next();
  replace_constant(g, p.node, 1, w);
}

void multiply_inputs(Graph& g, const Product& p, const std::vector<double>& factors, bool divide = false) {
  scale_weight(g, p, [&](const Product::Walk& at) {
    const double f = factors[static_cast<size_t>(at.input())];
    return divide ? 1 / f : f;
  });
}

void divide_outputs(Graph& g, const Product& p, const std::vector<double>& factors, bool multiply = false) {
  const auto of = [&](size_t i) { return multiply ? factors[i] : 1 / factors[i]; };
  scale_weight(g, p, [&](const Product::Walk& at) { return of(static_cast<size_t>(at.output())); });
  if (!p.bias) return;
  std::vector<float> b;
  for (const double x : g.constant(p.bias)->to_doubles())
    b.push_back(static_cast<float>(x * of(b.size() % factors.size())));
  replace_constant(g, p.node, 2, b);
}

// What channels reach to both sides of zero, in the range that makes a difference.
struct Reaches {
  std::vector<double> low, high;
  double all_low = 0, all_high = 0;

  // `open`: what every channel reaches, whatever it was on the samples.
  Reaches(const ChannelMoments& m, const Range& useful, const Range& open) {
    const auto most = [](const std::vector<float>& v, double sign) {
      double out = 0;
      for (const float x : v) out = std::max(out, sign * static_cast<double>(x));
      return out;
    };
    all_low = std::min(std::max(most(m.low, -1), -open.low), std::max(0.0, -useful.low));
    all_high = std::min(std::max(most(m.high, 1), open.high), std::max(0.0, useful.high));
    for (size_t c = 0; c < m.low.size(); ++c) {
      low.push_back(std::min(all_low, std::max(-open.low, margin * -static_cast<double>(m.low[c]))));
      high.push_back(std::min(all_high, std::max(open.high, margin * static_cast<double>(m.high[c]))));
    }
  }
  double all() const { return all_low + all_high; }
};

// Factors for one zero point: so much of the levels lies below it.
struct Division {
  double below = 0;
  std::vector<double> factors;  // of steps
  double noise() const {
    double sum = 0;
    for (const double f : factors) sum += f * f;
    return sum / static_cast<double>(factors.size());
  }
};

Division divided(const Reaches& r, double below) {
  Division out{below, {}};
  for (size_t c = 0; c < r.low.size(); ++c) {
    const double low = below > 0 ? r.low[c] / below : 0, high = below < 1 ? r.high[c] / (1 - below) : 0;
    out.factors.push_back(std::max({low, high, least_factor * r.all()}));
  }
  return out;
}

Division best_division(const Reaches& r) {
  constexpr int parts = 51;
  Division best;
  for (int part = 0; part <= parts; ++part) {
    if ((part == 0 && r.all_low > 0) || (part == parts && r.all_high > 0)) continue;
    Division d = divided(r, static_cast<double>(part) / parts);
    if (best.factors.empty() || d.noise() < best.noise()) best = std::move(d);
  }
  return best;
}

std::vector<double> softened(const std::vector<double>& factors, double share) {
  const double most = *std::max_element(factors.begin(), factors.end());
  std::vector<double> out;
  for (const double f : factors) out.push_back(std::pow(f / most, share));
  return out;
}

// What a product adds to its sums when its data has these steps per channel and its weights are multiplied with them.
double noise_of(const Graph& g, const Product& p, const ChannelMoments& m, const std::vector<double>& factors,
                double step) {
  const Tensor dense = *g.constant(p.weight);
  const Loaded<float> w(dense);
  std::vector<double> reach(static_cast<size_t>(p.channels()));
  double data = 0, weights = 0;
  Product::Walk at(p);
  for (const float x : w.span()) {
    const double scaled = static_cast<double>(x) * factors[static_cast<size_t>(at.input())];
    double& most = reach[static_cast<size_t>(at.channel())];
    most = std::max(most, std::fabs(scaled)), data += scaled * scaled;
    at.next();
  }
  Product::Walk again(p);
  for (size_t i = 0; i < w.span().size(); ++i, again.next()) {
    const auto c = static_cast<size_t>(again.input());
    const double s = reach[static_cast<size_t>(again.channel())] / weight_levels;
    weights += s * s * m.mean_square(c) / (factors[c] * factors[c]);
  }
  return data * step * step + weights;
}

// How far the differences between channels go into the readers' weights: what leaves the least noise.
std::vector<double> best_factors(const Graph& g, const std::vector<Product>& readers, const ChannelMoments& m,
                                 const Reaches& r, const Division& d, double most_left) {
  std::vector<double> best(d.factors.size(), 1);
  if (readers.empty()) {
    const double one = r.all() * r.all();
    return d.noise() < most_left * one ? softened(d.factors, 1) : best;
  }
  double least = 0;
  for (const double share : shares) {
    const std::vector<double> factors = softened(d.factors, share);
    double low = 0, high = 0;
    for (size_t c = 0; c < factors.size(); ++c)
      low = std::max(low, r.low[c] / factors[c]), high = std::max(high, r.high[c] / factors[c]);
    double noise = 0;
    for (const Product& p : readers) noise += noise_of(g, p, m, factors, (low + high) / levels);
    if (share == 0) least = most_left * noise;
    else if (noise < least) least = noise, best = factors;
  }
  return best;
}

class Scaler {
 public:
  Scaler(Graph& g, const Selection& s, const MomentsOf& moments, bool beside_floats)
      : g_(g), s_(s), moments_(moments), beside_floats_(beside_floats) {}

  std::vector<ScaledChannels> run() {
    const std::vector<ValueId> values(s_.values().begin(), s_.values().end());
    for (const ValueId v : values) plan(v);
    for (ScaledChannels& c : out_) apply(c);
    return std::move(out_);
  }

 private:
  // What reads the value: products and others. Not where bytes that a product makes are read by other nodes on
  // integers: only a float value can be quantized twice.
  bool find_readers(ValueId v, std::vector<Product>& products, bool& others) const {
    for (const Use& u : g_[v].uses) {
      const auto read = u.node && s_.has(u.node) ? s_.operands(u.node) : std::vector<size_t>();
      if (std::find(read.begin(), read.end(), u.index) == read.end()) {
        others = true;
        continue;
      }
      const auto p = u.index == 0 ? product_of(g_, u.node) : std::nullopt;
      if (p && is_plain_weight(g_, p->weight) && p->data_axis >= 0 && !g_[u.node].is("ConvTranspose"))
        products.push_back(*p);
      else if (s_.is_chosen_result(v)) return false;
      else others = true;
    }
    return true;
  }

  void plan(ValueId v) {
    ScaledChannels c{.value = v,
                     .factors = {},
                     .maker = {},
                     .readers = {},
                     .multiplication = {},
                     .result = {},
                     .useful = {},
                     .open = {}};
    std::vector<Product> readers;
    bool others = false;
    if (!g_[v].fact.has_rank() || s_.group(v) != v || !find_readers(v, readers, others)) return;
    const auto maker = maker_of(g_, s_, v);
    const bool whole = s_.is_chosen_result(v);
    if (whole && !maker) return;
    if (maker && whole) c.maker = maker->node;
    if ((others || !c.maker) && !beside_floats_) return;
    if (!c.maker && (readers.empty() || !g_[v].def)) return;
    c.axis = readers.empty() ? result_axis(g_, *maker) : readers[0].data_axis;
    const ChannelMoments* m = moments_(v);
    if (!m || m->axis != c.axis || m->low.empty()) return;
    for (const Product& p : readers) {
      if (p.data_axis != c.axis || p.all_inputs() != static_cast<int64_t>(m->low.size())) return;
      c.readers.push_back(p.node);
    }
    if (c.maker && (result_axis(g_, *maker) != c.axis || maker->outputs() != static_cast<int64_t>(m->low.size())))
      return;
    const Range useful = useful_range(g_, v), open = decisive_range(g_, v);
    const Reaches reaches(*m, useful, open);
    if (!(reaches.all() > 0) || !std::isfinite(reaches.all())) return;
    const Division d = best_division(reaches);
    const bool free = c.maker || float_product(g_, v) || gate_of(g_, v, c.axis, static_cast<int64_t>(m->low.size()));
    c.factors = best_factors(g_, readers, *m, reaches, d, free ? worthwhile : with_a_pass);
    if (std::all_of(c.factors.begin(), c.factors.end(), [](double f) { return f == 1; })) return;
    const double most = *std::max_element(d.factors.begin(), d.factors.end());
    c.useful = {std::isfinite(useful.low) ? -d.below * most : -INFINITY,
                std::isfinite(useful.high) ? (1 - d.below) * most : INFINITY};
    if (open.low < 0 || open.high > 0) c.open = {-d.below * most, (1 - d.below) * most};
    if (others || !c.maker) needs_multiplication_.insert(v);
    out_.push_back(std::move(c));
  }

  ValueId multiplied(const ScaledChannels& c, bool divide) {
    const auto rank = static_cast<int64_t>(g_[c.value].fact.rank());
    std::vector<int64_t> shape(static_cast<size_t>(rank - c.axis), 1);
    shape[0] = static_cast<int64_t>(c.factors.size());
    std::vector<float> numbers;
    for (const double f : c.factors) numbers.push_back(static_cast<float>(divide ? 1 / f : f));
    const NodeId def = g_[c.value].def;
    On on(g_, g_.main(), def ? g_[def].next : g_[g_.main()].first);
    return on.Mul(c.value, g_.add_constant(Tensor::of<float>(DType::f32, shape, numbers)));
  }

  void apply(ScaledChannels& c) {
    // Products were changed for other values by now.
    for (const NodeId n : c.readers) multiply_inputs(g_, *product_of(g_, n), c.factors);
    if (c.maker) divide_outputs(g_, *product_of(g_, c.maker), c.factors);
    if (!needs_multiplication_.contains(c.value)) return;
    const std::vector<Use> uses = g_[c.value].uses;
    c.result = multiplied(c, !c.maker);
    c.multiplication = g_[c.result].def;
    const std::string name = g_[c.value].name;
    const auto is_product = [&](const Use& u) {
      return u.node && std::find(c.readers.begin(), c.readers.end(), u.node) != c.readers.end();
    };
    if (!c.maker) {
      for (const Use& u : uses)
        if (is_product(u)) g_.set_input(u.node, u.index, c.result);
      if (!name.empty()) g_.rename(c.result, cat(name, "_scaled"));
      return;
    }
    bool is_output = false;
    for (const Use& u : uses) {
      if (u.node) {
        if (!is_product(u)) g_.set_input(u.node, u.index, c.result);
        continue;
      }
      std::vector<ValueId> outputs = g_[u.region].outputs;
      std::replace(outputs.begin(), outputs.end(), c.value, c.result);
      g_.set_region_outputs(u.region, outputs);
      is_output = is_output || u.region == g_.main();
    }
    if (name.empty()) return;
    g_.rename(c.value, cat(name, "_scaled"));
    g_.rename(c.result, name);
  }

  Graph& g_;
  const Selection& s_;
  const MomentsOf& moments_;
  bool beside_floats_;
  std::set<ValueId> needs_multiplication_;
  std::vector<ScaledChannels> out_;
};

struct OneScale {
  double scale = 1;
  Tensor zero;
};
// Of QuantizeLinear or DequantizeLinear with one constant scale.
std::optional<OneScale> one_scale(const Graph& g, NodeId n) {
  const Node& node = g[n];
  if (node.inputs.size() < 3) return std::nullopt;
  const auto scale = g.constant(node.inputs[1], 64), zero = g.constant(node.inputs[2], 64);
  if (!scale || !zero || scale->count() != 1 || zero->count() != 1) return std::nullopt;
  return OneScale{scale->double_at(0), *zero};
}

// A constant per channel: the scales, and the zero point as often.
std::pair<ValueId, ValueId> per_channel(Graph& g, const OneScale& one, const std::vector<double>& factors,
                                        const std::string& name) {
  std::vector<float> scales;
  for (const double f : factors) scales.push_back(static_cast<float>(one.scale * f));
  const std::vector<int64_t> shape{static_cast<int64_t>(factors.size())};
  const std::vector<uint8_t> zeros(factors.size(), static_cast<uint8_t>(one.zero.int_at(0)));
  return {g.add_constant(Tensor::of<float>(DType::f32, shape, scales), name.empty() ? "" : cat(name, "_scale")),
          g.add_constant(Tensor::of<uint8_t>(one.zero.dtype(), shape, zeros),
                         name.empty() ? "" : cat(name, "_zero_point"))};
}

// Whether a path that leaves every element in its place leads from the value to QuantizeLinear. onnxruntime moves the
// Transpose of its integer convolutions along such paths: there DequantizeLinear with a scale per channel takes several
// times as long as a multiplication (QuantizeLinear everywhere). Towards float convolutions it takes no longer than
// with one scale.
bool leads_to_quantizer(const Graph& g, ValueId v) {
  constexpr std::string_view ends[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "GlobalAveragePool", "ReduceMean"};
  return leads_to(
      g, v, [&](const Node& n) { return !is_one_of(n, ends); },
      [&](const Use& u) { return u.node && g[u.node].is("QuantizeLinear"); });
}

void absorb_in_dequantizer(Graph& g, const ScaledChannels& c, Inserted& inserted) {
  const ValueId d = g[c.multiplication].inputs[0];
  const auto one = is_dequantized(g, d) ? one_scale(g, g[d].def) : std::nullopt;
  if (!one || leads_to_quantizer(g, c.result)) {
    inserted.dequantized[c.result] = c.result;
    return;
  }
  const std::string name = g[c.result].name;
  const auto [scale, zero] = per_channel(g, *one, c.factors, name);
  On on(g, g.main(), c.multiplication);
  const ValueId made = dequantize(on, g[g[d].def].inputs[0], scale, zero, c.axis);
  g.replace_uses(c.result, made);
  g.erase(c.multiplication);
  g.rename(made, name);
  inserted.dequantized[c.result] = made;
  if (g[d].uses.empty()) inserted.dequantized.erase(c.value);
}

void absorb_in_float(Graph& g, const ScaledChannels& c) {
  if (const auto p = float_product(g, c.value); p && g[c.value].uses.size() == 1) {
    divide_outputs(g, *p, c.factors);
    g.replace_uses(c.result, c.value);
  } else if (const auto gate = gate_of(g, c.value, c.axis, static_cast<int64_t>(c.factors.size()))) {
    const std::vector<ValueId> in = g[g[c.value].def].inputs;
    On on(g, g.main(), g[c.value].def);
    const ValueId other = in[1 - *gate], smaller = on.Mul(in[*gate], g[c.multiplication].inputs[1]);
    g.replace_uses(c.result, on.Mul(other, smaller));
  } else {
    return;
  }
  g.erase(c.multiplication);
}

}  // namespace

std::vector<ScaledChannels> scale_channels(Graph& g, const Selection& s, const MomentsOf& moments, bool beside_floats) {
  return Scaler(g, s, moments, beside_floats).run();
}

void restore_float_products(Graph& g, const std::vector<ScaledChannels>& all, const std::set<NodeId>& quantized) {
  for (const ScaledChannels& c : all) {
    if (!c.multiplication) continue;  // products of either kind compute the same
    if (!c.maker) {
      for (const NodeId n : c.readers)
        if (!quantized.contains(n)) multiply_inputs(g, *product_of(g, n), c.factors, true), g.set_input(n, 0, c.value);
    } else if (!quantized.contains(c.maker) && c.readers.empty()) {
      divide_outputs(g, *product_of(g, c.maker), c.factors, true);
      g.replace_uses(c.result, c.value);
      const std::string name = g[c.result].name, scaled = g[c.value].name;
      g.rename(c.result, scaled), g.rename(c.value, name);
      g.erase(c.multiplication);
    }
  }
}

void absorb_factors(Graph& g, const std::vector<ScaledChannels>& all, Inserted& inserted) {
  for (const ScaledChannels& c : all) {
    if (!c.multiplication) continue;
    if (g[c.multiplication].dead) {  // the product stays float, and gives the value as it was
      if (c.maker && !g[c.value].uses.empty()) inserted.dequantized[c.result] = c.value;
      continue;
    }
    if (c.maker) absorb_in_dequantizer(g, c, inserted);
    else if (!g[c.result].uses.empty()) absorb_in_float(g, c);
  }
}

}  // namespace cameo::quant
