#include "quant/schemes/response.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "ops/eval.h"

namespace cameo::quant {

namespace {

constexpr size_t points = 4096, most_nodes = 12;
// Element by element, and what only moves elements.
constexpr std::string_view functions[] = {
    "Sigmoid",  "HardSigmoid", "HardSwish", "Swish", "Gelu", "Mish", "Tanh", "Relu", "Clip", "LeakyRelu", "Elu",
    "Softplus", "Softsign",    "Erf",       "Exp",   "Abs",  "Add",  "Sub",  "Mul",  "Div",  "Min",       "Max"};

std::optional<Datum> number(const Graph& g, ValueId v) {
  if (!g.is_constant(v)) return std::nullopt;
  const auto t = g.constant(v, 64);
  if (!t || t->count() != 1 || t->dtype() != DType::f32) return std::nullopt;
  return Datum(Tensor::float_scalar(static_cast<float>(t->double_at(0))));
}

// The nodes between a value and the only one that others see of it.
class Cone {
 public:
  Cone(const Graph& g, ValueId v) : g_(g) {
    values_[v] = {};
    open_ = {v};
    while (!open_.empty() && nodes_.size() < most_nodes) grow();
  }

  // The value that everything comes to; none where there are several, or the first one is seen by others.
  ValueId end(ValueId v) const {
    ValueId out;
    for (const auto& [value, datum] : values_) {
      const auto& uses = g_[value].uses;
      const bool inner = !uses.empty() && std::all_of(uses.begin(), uses.end(), [&](const Use& u) {
        return u.node && std::find(nodes_.begin(), nodes_.end(), u.node) != nodes_.end();
      });
      if (inner) continue;
      if (out || value == v) return {};
      out = value;
    }
    return out;
  }

  std::vector<float> evaluate(ValueId from, ValueId to, const Tensor& numbers) {
    values_[from] = Datum(numbers);
    for (const NodeId n : nodes_) {
      std::vector<Datum> constants;
      constants.reserve(g_[n].inputs.size());
      std::vector<const Datum*> in;
      for (const ValueId v : g_[n].inputs) {
        static const Datum none;
        if (const auto it = values_.find(v); it != values_.end()) in.push_back(&it->second);
        else in.push_back(v ? &constants.emplace_back(*number(g_, v)) : &none);
      }
      values_[g_[n].outputs[0]] = ops::evaluate_node(g_[n], in)[0];
    }
    const auto out = values_.at(to).tensor.as<float>();
    return {out.begin(), out.end()};
  }

 private:
  bool fits(NodeId n) const {
    const Node& node = g_[n];
    if (node.home != g_.main() || !node.op->domain.empty() || node.outputs.size() != 1) return false;
    if (std::none_of(std::begin(functions), std::end(functions), [&](std::string_view f) { return node.is(f); }))
      return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](ValueId v) { return !v || values_.contains(v) || number(g_, v); });
  }
  // Readers whose operands are all known by now; others may be later.
  void grow() {
    std::vector<ValueId> later;
    for (const ValueId v : open_)
      for (const Use& u : g_[v].uses) {
        if (!u.node || std::find(nodes_.begin(), nodes_.end(), u.node) != nodes_.end() || !fits(u.node)) continue;
        nodes_.push_back(u.node);
        values_[g_[u.node].outputs[0]] = {};
        later.push_back(g_[u.node].outputs[0]);
      }
    open_ = std::move(later);
  }

  const Graph& g_;
  std::map<ValueId, Datum> values_;
  std::vector<NodeId> nodes_;  // each behind those it reads
  std::vector<ValueId> open_;
};

}  // namespace

Curve response(const Graph& g, ValueId v, const Range& over) {
  Curve out;
  Cone cone(g, v);
  const ValueId to = cone.end(v);
  if (!to || !(over.high - over.low > 1e-12) || !std::isfinite(over.high - over.low)) return out;
  std::vector<float> x(points);
  out.first = over.low, out.step = (over.high - over.low) / (points - 1);
  for (size_t i = 0; i < points; ++i) x[i] = static_cast<float>(out.first + out.step * static_cast<double>(i));
  const std::vector<float> y = cone.evaluate(v, to, Tensor::of<float>(DType::f32, {points}, x));
  if (y.size() != points || std::any_of(y.begin(), y.end(), [](float f) { return !std::isfinite(f); })) return {};
  out.points.assign(y.begin(), y.end());
  return out;
}

}  // namespace cameo::quant
