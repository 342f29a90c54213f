#include "quant/schemes/saturation.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "ops/on.h"
#include "quant/schemes/readers.h"

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

namespace {

constexpr Range score{0, 1}, undecided{-flat, 6};  // the sigmoid of 6 is 0.998
constexpr std::string_view movers[] = {"Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Slice",
                                       "Split",   "Gather",  "Concat",    "Expand",  "Resize"};
constexpr std::string_view products[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"};

bool is_score(const Node& n) { return n.is("Sigmoid") || n.is("HardSigmoid"); }

bool decides(const Graph& g, ValueId v) {
  return leads_to(
      g, v, [](const Node& n) { return !is_one_of(n, products); },
      [&](const Use& u) { return !u.node && u.region == g.main(); });
}

// Scores among what the value holds, which may be joined of several.
bool holds_scores(const Graph& g, ValueId v, int depth = 0) {
  const NodeId n = g[v].def;
  if (!n || depth > 16) return false;
  if (is_score(g[n])) return true;
  return is_one_of(g[n], movers) && std::any_of(g[n].inputs.begin(), g[n].inputs.end(),
                                                [&](ValueId in) { return in && holds_scores(g, in, depth + 1); });
}

}  // namespace

Range decisive_range(const Graph& g, ValueId v) {
  if (holds_scores(g, v)) return decides(g, v) ? score : Range{};
  const bool scored = leads_to(
      g, v, [](const Node& n) { return is_one_of(n, movers); },
      [&](const Use& u) { return u.node && is_score(g[u.node]) && decides(g, g[u.node].outputs[0]); });
  return scored ? undecided : Range{};
}

}  // namespace cameo::quant
