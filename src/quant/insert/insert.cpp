#include "quant/insert/insert.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "ops/on.h"
#include "quant/insert/guard.h"
#include "quant/insert/weights.h"
#include "quant/schemes/product.h"
#include "support/error.h"

namespace cameo::quant {

ValueId dequantize(On& on, ValueId q, ValueId scale, ValueId zero, int64_t axis) {
  op::DequantizeLinear how;
  how.axis = axis;
  std::vector<ValueId> in{q, scale};
  if (zero) in.push_back(zero);
  return on.make(std::move(how), std::move(in), 1)[0];
}

namespace {

constexpr double most_bias_level = 1 << 30;

DType type_of(const Grid& grid) { return grid.is_signed ? DType::i8 : DType::u8; }

std::string named(const std::string& name, std::string_view end) { return name.empty() ? "" : cat(name, end); }

class Inserter {
 public:
  Inserter(Graph& g, const Selection& s, const InsertOptions& o) : g_(g), s_(s), o_(o), target_(*o.target) {}

  Inserted run() {
    const std::vector<ValueId> values(s_.values().begin(), s_.values().end());
    plan_readers(values);
    for (const NodeId n : s_.nodes()) plan_product(n);
    for (const ValueId v : values) quantize_value(v);
    for (const Product& p : products_) quantize_product(p);
    for (const auto& [n, i] : constants_) quantize_constant(n, i);
    for (const NodeId n : implied_) drop(n);
    if (target_.quantizes_float) guard_float_nodes(g_);
    return std::move(out_);
  }

 private:
  // The selection looks at the graph: everything is asked before the first change.
  void plan_readers(const std::vector<ValueId>& values) {
    for (const ValueId v : values) {
      scales_[v] = o_.scales.at(s_.group(v));
      if (s_.for_all_readers(v)) everywhere_.insert(v);
    }
    for (const NodeId n : s_.nodes()) {
      for (const size_t i : s_.operands(n)) {
        readers_.insert({n, i});
        if (g_.is_constant(g_[n].inputs[i])) constants_.emplace_back(n, i);
      }
      if (const NodeId a = s_.activation(n); a && target_.drops_implied && implied(a)) implied_.push_back(a);
    }
  }
  void plan_product(NodeId n) {
    const OperatorRow* row = find_operator(target_, g_[n]);
    if (row && row->role == Role::product)
      if (const auto p = product_of(g_, n)) products_.push_back(*p);
  }

  // What the activation does, the quantized range does anyway.
  bool implied(NodeId a) const {
    const auto scale = scales_.find(g_[a].outputs[0]);
    if (scale == scales_.end()) return false;
    const Range in = covered(scale->second, target_.activation);
    const double step = scale->second.scale;
    const auto bound = [&](size_t i, double absent) -> double {
      const ValueId v = g_.input(a, i);
      if (!v) return absent;
      const auto t = g_.constant(v, 64);
      return t && t->count() == 1 ? t->double_at(0) : NAN;  // NaN compares as not implied
    };
    const bool relu = g_[a].is("Relu");
    return (relu ? 0 : bound(1, -INFINITY)) <= in.low + step * 1e-3 &&
           (relu ? INFINITY : bound(2, INFINITY)) >= in.high - step * 1e-3;
  }
  void drop(NodeId a) {
    g_.replace_uses(g_[a].outputs[0], g_[a].inputs[0]);
    g_.erase(a);
  }

  ValueId scalar(double v, const std::string& name) {
    return g_.add_constant(Tensor::float_scalar(static_cast<float>(v)), name);
  }
  ValueId zero_point(const Scale& s, const Grid& grid, const std::string& name) {
    const auto byte = static_cast<uint8_t>(s.zero);
    return g_.add_constant(Tensor::of<uint8_t>(type_of(grid), {}, std::span(&byte, 1)), name);
  }
  void quantize_value(ValueId v) {
    const NodeId def = g_[v].def;
    On on(g_, g_.main(), def ? g_[def].next : g_[g_.main()].first);
    const std::string name = g_[v].name;
    const Scale s = scales_.at(v);
    const ValueId scale = scalar(s.scale, named(name, "_scale"));
    const ValueId zero = zero_point(s, target_.activation, named(name, "_zero_point"));
    const std::vector<Use> uses = g_[v].uses;
    const ValueId q = on.make(op::QuantizeLinear(), {v, scale, zero}, 1)[0];
    const ValueId d = dequantize(on, q, scale, zero, 1);
    g_.rename(q, named(name, "_quantized"));
    bool is_output = false;
    for (const Use& u : uses)
      if (u.node && (everywhere_.contains(v) || readers_.contains({u.node, u.index}))) g_.set_input(u.node, u.index, d);
    if (def && everywhere_.contains(v)) is_output = replace_outputs(v, d, uses);
    g_.rename(d, is_output ? name : named(name, "_dequantized"));
    if (is_output) g_.rename(v, named(name, "_float"));
    out_.dequantized[v] = d;
    ++out_.quantizers;
  }
  bool replace_outputs(ValueId v, ValueId d, const std::vector<Use>& uses) {
    bool main = false;
    for (const Use& u : uses) {
      if (u.node) continue;
      std::vector<ValueId> outputs = g_[u.region].outputs;
      std::replace(outputs.begin(), outputs.end(), v, d);
      g_.set_region_outputs(u.region, outputs);
      main = main || u.region == g_.main();
    }
    return main;
  }

  // A small constant that a sum or product of two values reads.
  void quantize_constant(NodeId n, size_t i) {
    const ValueId v = g_[n].inputs[i];
    const Tensor dense = *g_.constant(v);
    const Loaded<float> numbers(dense);
    Histogram h;
    h.add(numbers.span(), SIZE_MAX);
    const Grid& grid = target_.activation;
    const Scale s = scale_of({h.min(), h.max()}, grid);
    std::vector<uint8_t> levels;
    for (const float x : numbers.span())
      levels.push_back(static_cast<uint8_t>(static_cast<int64_t>(
          std::clamp(std::nearbyint(static_cast<double>(x) / s.scale) + static_cast<double>(s.zero),
                     static_cast<double>(least_level(grid)), static_cast<double>(most_level(grid))))));
    const std::string name = g_[v].name;
    const ValueId q =
        g_.add_constant(Tensor::of<uint8_t>(type_of(grid), dense.shape(), levels), named(name, "_quantized"));
    On on(g_, g_.main(), n);
    g_.set_input(
        n, i,
        dequantize(on, q, scalar(s.scale, named(name, "_scale")), zero_point(s, grid, named(name, "_zero_point")), 1));
  }

  struct Shared {
    ValueId value;
    std::vector<float> scales;
    std::vector<double> shift;
    double db = 0;
  };

  void quantize_product(const Product& p) {
    if (is_dequantized(g_, p.weight)) return;  // as it was trained
    const ChannelMoments* moments = o_.moments ? o_.moments(p.data) : nullptr;
    const Shared& w = weight(p, moments);
    g_.set_input(p.node, 1, w.value);
    InsertedProduct& made = out_.products[p.node];
    made.weight_db = w.db;
    bias(p, w, moments, made);
  }

  // A weight that several products read the same way is made once.
  const Shared& weight(const Product& p, const ChannelMoments* moments) {
    const auto key = std::pair(p.weight, p.weight_axis);
    if (const auto it = weights_.find(key); it != weights_.end()) {
      if (!moments) return it->second;
    }
    const bool first = !weights_.contains(key);
    const QuantizedWeight w = with_room_for_bias(p, rounded(p, moments));
    Shared& made = weights_[key];
    if (!first) {  // the integers are those of the first product; what they shift depends on the inputs
      made.shift = w.scales == made.scales ? w.shift : std::vector<double>();
      return made;
    }
    const std::string name = g_[p.weight].name;
    On on(g_, g_.main(), g_[g_.main()].first);
    const Tensor levels(DType::i8, p.shape, w.levels);
    const bool several = w.scales.size() > 1;
    const std::vector<int64_t> shape =
        several ? std::vector<int64_t>{static_cast<int64_t>(w.scales.size())} : std::vector<int64_t>{};
    const ValueId scale = g_.add_constant(Tensor::of<float>(DType::f32, shape, w.scales), named(name, "_scale"));
    const ValueId zero = g_.add_constant(zeros(DType::i8, shape), named(name, "_zero_point"));
    made.value = dequantize(on, g_.add_constant(levels, named(name, "_quantized")), scale, zero, p.weight_axis);
    g_.rename(made.value, named(name, "_dequantized"));
    made.scales = w.scales;
    made.shift = w.shift;
    made.db = w.error > 0 ? 10 * std::log10(w.power / w.error) : 200;
    return made;
  }

  // Models that differ only in what stays float share them.
  const QuantizedWeight& rounded(const Product& p, const ChannelMoments* moments) {
    const std::tuple key(p.weight, p.weight_axis, p.data);
    if (o_.compensated)
      if (const auto it = o_.compensated->find(key); it != o_.compensated->end()) return it->second;
    const auto it = o_.cache->find(key);
    if (it != o_.cache->end()) return it->second;
    const Tensor dense = *g_.constant(p.weight);
    const Loaded<float> numbers(dense);
    return o_.cache->emplace(key, quantize_weight(p, numbers.span(), target_.weight, target_.per_channel, moments))
        .first->second;
  }

  // Of a channel with weights near 0 the bias would be more steps than an i32 counts: larger steps do no harm there.
  QuantizedWeight with_room_for_bias(const Product& p, const QuantizedWeight& w) const {
    const auto data = target_.integer_bias && p.bias ? data_scale(p.node) : std::nullopt;
    const auto bias = data ? bias_numbers(p) : std::nullopt;
    if (!bias) return w;
    std::vector<float> least(w.scales.size());
    for (size_t i = 0; i < bias->size(); ++i) {
      float& channel = least[i % least.size()];
      channel = std::max(channel, static_cast<float>(std::fabs((*bias)[i]) / (*data * most_bias_level / 2)));
    }
    if (std::equal(least.begin(), least.end(), w.scales.begin(), [](float a, float b) { return a <= b; })) return w;
    const Tensor dense = *g_.constant(p.weight);
    const Loaded<float> numbers(dense);
    return with_larger_scales(p, numbers.span(), w, least, target_.weight, o_.moments ? o_.moments(p.data) : nullptr);
  }

  // One per output, zeros where there is no bias; nothing where the bias is of another form.
  std::optional<std::vector<double>> bias_numbers(const Product& p) const {
    const auto outputs = static_cast<size_t>(p.outputs());
    if (!p.bias) return std::vector<double>(outputs);
    const auto t = g_.is_constant(p.bias) && is_f32(g_, p.bias) ? g_.constant(p.bias) : std::nullopt;
    if (!t || static_cast<size_t>(t->count()) != outputs || t->shape().back() != p.outputs() || !p.plain_bias)
      return std::nullopt;
    return t->to_doubles();
  }

  void bias(const Product& p, const Shared& w, const ChannelMoments* moments, InsertedProduct& made) {
    const auto outputs = static_cast<size_t>(p.outputs());
    auto found = bias_numbers(p);
    if (!found) return;
    std::vector<double> numbers = std::move(*found);
    const bool correct = subtract_shifts(p, w, moments, numbers);
    if (!p.bias && !correct) return;
    const std::string name = p.bias ? g_[p.bias].name : named(g_[p.weight].name, "_bias");
    const std::vector<int64_t> shape{static_cast<int64_t>(outputs)};
    if (target_.integer_bias && integer_bias(p, w, numbers, name)) {
      made.integer_bias = true;
    } else if (correct) {
      std::vector<float> floats(numbers.begin(), numbers.end());
      g_.set_input(p.node, 2, g_.add_constant(Tensor::of<float>(DType::f32, shape, floats), named(name, "_corrected")));
    }
  }

  // What quantization adds to the means: by the rounding of weights, and as it was measured.
  bool subtract_shifts(const Product& p, const Shared& w, const ChannelMoments* moments,
                       std::vector<double>& numbers) const {
    if (!p.plain_bias || g_[p.node].is("MatMul")) return false;
    bool any = false;
    const auto subtract = [&](const std::vector<double>& shift) {
      if (shift.size() != numbers.size()) return;
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] -= shift[i], any = any || shift[i] != 0;
    };
    if (o_.correct_bias && moments) subtract(w.shift);
    if (const auto it = o_.shifts ? o_.shifts->find(p.node) : BiasShifts::const_iterator();
        o_.shifts && it != o_.shifts->end())
      subtract(it->second);
    return any;
  }

  bool integer_bias(const Product& p, const Shared& w, const std::vector<double>& numbers, const std::string& name) {
    const auto data = data_scale(p.node);
    if (!data) return false;
    std::vector<int32_t> levels;
    std::vector<float> scales;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const float unit = static_cast<float>(*data) * w.scales[w.scales.size() == 1 ? 0 : i % w.scales.size()];
      const double level = std::nearbyint(numbers[i] / static_cast<double>(unit));
      if (!(std::fabs(level) < most_bias_level)) return false;
      levels.push_back(static_cast<int32_t>(level));
      scales.push_back(unit);
    }
    if (w.scales.size() == 1) scales.resize(1);
    const auto scale_shape =
        scales.size() > 1 ? std::vector<int64_t>{static_cast<int64_t>(scales.size())} : std::vector<int64_t>{};
    On on(g_, g_.main(), p.node);
    const ValueId q = g_.add_constant(Tensor::of<int32_t>(DType::i32, {static_cast<int64_t>(levels.size())}, levels),
                                      named(name, "_quantized"));
    const ValueId scale = g_.add_constant(Tensor::of<float>(DType::f32, scale_shape, scales), named(name, "_scale"));
    const ValueId zero = g_.add_constant(zeros(DType::i32, scale_shape), named(name, "_zero_point"));
    g_.set_input(p.node, 2, dequantize(on, q, scale, zero, 0));
    return true;
  }

  // Of the product's data, from the DequantizeLinear that is there now.
  std::optional<double> data_scale(NodeId n) const {
    const ValueId v = g_[n].inputs[0];
    if (!is_dequantized(g_, v)) return std::nullopt;
    const auto t = g_.constant(g_[g_[v].def].inputs[1], 64);
    return t && t->count() == 1 ? std::optional(t->double_at(0)) : std::nullopt;
  }

  Graph& g_;
  const Selection& s_;
  const InsertOptions& o_;
  const Target& target_;
  Inserted out_;
  std::map<ValueId, Scale> scales_;
  std::set<ValueId> everywhere_;
  std::set<std::pair<NodeId, size_t>> readers_;
  std::vector<std::pair<NodeId, size_t>> constants_;
  std::vector<NodeId> implied_;
  std::vector<Product> products_;
  std::map<std::pair<ValueId, int64_t>, Shared> weights_;
};

}  // namespace

Inserted insert(Graph& graph, const Selection& selection, const InsertOptions& options) {
  return Inserter(graph, selection, options).run();
}

}  // namespace cameo::quant
