#include "quant/schemes/saturation.h"

#include <algorithm>
#include <cmath>

#include "ops/on.h"

namespace cameo::quant {

namespace {

constexpr Range endless{-INFINITY, INFINITY};
constexpr double flat = 8;  // the sigmoid of -8 is 0.0003, a part of one step of 1/255

struct Row {
  std::string_view op;
  Range useful;
};
constexpr Row rows[] = {
    {"Sigmoid", {-flat, flat}},      {"HardSwish", {-3, INFINITY}}, {"Swish", {-flat, INFINITY}},
    {"Gelu", {-flat / 2, INFINITY}}, {"Mish", {-flat, INFINITY}},   {"Tanh", {-flat / 2, flat / 2}},
    {"Relu", {0, INFINITY}},
};

std::optional<double> number(const Graph& g, ValueId v) {
  if (!v) return std::nullopt;
  const auto t = g.constant(v, 64);
  return t && t->count() == 1 ? std::optional(t->double_at(0)) : std::nullopt;
}

// Clip and HardSigmoid, also behind the addition of a number.
Range of_reader(const Graph& g, const Node& n, ValueId v) {
  for (const Row& row : rows)
    if (n.is(row.op)) return row.useful;
  if (const auto* hard = n.as<op::HardSigmoid>(); hard && hard->alpha > 0) {
    const auto alpha = static_cast<double>(hard->alpha), beta = static_cast<double>(hard->beta);
    return {-beta / alpha, (1 - beta) / alpha};
  }
  if (n.is("Clip") && n.inputs[0] == v) {
    const auto low = n.inputs.size() > 1 && n.inputs[1] ? number(g, n.inputs[1]) : std::optional<double>(-INFINITY);
    const auto high = n.inputs.size() > 2 && n.inputs[2] ? number(g, n.inputs[2]) : std::optional<double>(INFINITY);
    return {low.value_or(-INFINITY), high.value_or(INFINITY)};
  }
  if (n.is("Add") && n.inputs.size() == 2) {
    const auto shift = number(g, n.inputs[n.inputs[0] == v ? 1 : 0]);
    const auto& uses = g[n.outputs[0]].uses;
    if (!shift || uses.size() != 1 || !uses[0].node || !g[uses[0].node].is("Clip")) return endless;
    const Range inner = of_reader(g, g[uses[0].node], n.outputs[0]);
    return {inner.low - *shift, inner.high - *shift};
  }
  return endless;
}

// Whether the other factor of v * gate(v) comes from v, through numbers only.
bool gated_by(const Graph& g, ValueId factor, ValueId v) {
  for (int steps = 0; steps < 6 && factor; ++steps) {
    if (factor == v) return true;
    const NodeId n = g[factor].def;
    if (!n || g[n].inputs.empty()) return false;
    const Node& node = g[n];
    if (!node.is("Sigmoid") && !node.is("HardSigmoid") && !node.is("Clip") && !node.is("Add") && !node.is("Mul") &&
        !node.is("Div"))
      return false;
    factor = g.is_constant(node.inputs[0]) && node.inputs.size() > 1 ? node.inputs[1] : node.inputs[0];
  }
  return false;
}

}  // namespace

Range useful_range(const Graph& g, ValueId v) {
  Range out{INFINITY, -INFINITY};
  bool gated = false, gates = false;
  for (const Use& u : g[v].uses) {
    if (!u.node) return endless;
    const Node& n = g[u.node];
    const Range r = of_reader(g, n, v);
    if (r == endless && n.is("Mul") && n.inputs.size() == 2 && gated_by(g, n.inputs[1 - u.index], v)) {
      gated = true;  // below, the gate is 0; above, it is 1
      continue;
    }
    if (r == endless) return endless;
    gates = true;
    out = joined(out, r);
  }
  if (!gates) return endless;
  if (gated) out.high = INFINITY;
  return out;
}

}  // namespace cameo::quant
