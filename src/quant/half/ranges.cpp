#include "quant/half/ranges.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "passes/half/half.h"
#include "runtime/inputs.h"

namespace cameo::quant {

namespace {

constexpr double few_digits_f16 = 0x1p-20;  // 16 times the smallest number above 0

constexpr std::string_view sums_of_squares[] = {
    "LayerNormalization", "LpNormalization", "MeanVarianceNormalization", "ReduceL2",
    "RMSNormalization",   "ReduceSumSquare", "InstanceNormalization",     "GroupNormalization"};
// What people saw overflow: exponentials, powers, sums over many elements, variances.
constexpr std::string_view overflows[] = {"CumSum",
                                          "Exp",
                                          "GroupNormalization",
                                          "InstanceNormalization",
                                          "LayerNormalization",
                                          "LogSoftmax",
                                          "LpNormalization",
                                          "MeanVarianceNormalization",
                                          "Pow",
                                          "RMSNormalization",
                                          "Reciprocal",
                                          "ReduceL1",
                                          "ReduceL2",
                                          "ReduceLogSumExp",
                                          "ReduceProd",
                                          "ReduceSum",
                                          "ReduceSumSquare",
                                          "Softmax"};

bool listed(std::span<const std::string_view> names, const Node& n) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return n.is(name); });
}

double of(const std::map<ValueId, double>& numbers, ValueId v, double otherwise) {
  const auto it = numbers.find(v);
  return it == numbers.end() ? otherwise : it->second;
}

double elements(const Type& t) {
  double out = 1;
  if (t.has_rank())
    for (const Dim d : *t.shape) out *= d.is_literal() ? static_cast<double>(d.literal()) : 1;
  return out;
}

}  // namespace

MeasuredRanges::MeasuredRanges(const Model& m, std::span<const Unit> units, const engine::SessionOptions& run) {
  const Graph& g = m.graph;
  inputs_ = runtime::run_inputs(g);
  for (const Unit& u : units)
    for (const ValueId v : u.gives)
      if (g[v].kind == Value::Kind::node_output && g[v].home == g.main() && g[v].fact.type.is_tensor())
        watched_.push_back(v);
  engine::SessionOptions options = run;
  options.observe = watched_;
  session_ = std::make_unique<engine::Session>(m, options);
}

void MeasuredRanges::count(ValueId v, std::span<const float> numbers) {
  float most = 0;
  for (const float x : numbers)
    if (const float a = std::fabs(x); a > most && a < static_cast<float>(mask_like)) most = a;
  double& known = largest_[v];
  known = std::max(known, static_cast<double>(most));
}

std::vector<Datum> MeasuredRanges::sample(std::span<const Datum> inputs) {
  for (size_t i = 0; i < inputs.size() && i < inputs_.size(); ++i)
    if (inputs[i].kind == Datum::Kind::tensor && inputs[i].tensor.dtype() == DType::f32)
      count(inputs_[i], Loaded<float>(inputs[i].tensor).span());
  return session_->run(inputs, [this](const engine::Observation& o) {
    if (o.dtype == DType::f32)
      count(watched_[o.index], {reinterpret_cast<const float*>(o.bytes.data()), o.bytes.size() / sizeof(float)});
  });
}

void keep_by_range(const Graph& g, std::span<Unit> units, const std::map<ValueId, double>& measured,
                   const std::map<ValueId, double>& bounds, DType half, double safety, bool sums) {
  const double most = passes::largest_half(half);
  const auto judge = [&](Unit& u, ValueId v) {
    const double seen = of(measured, v, 0), bound = of(bounds, v, mask_like);
    if (bound > most && seen * safety > most) keep_f32(u, cat("'", g[v].name, "' reaches ", static_cast<float>(seen)));
    else if (half == DType::f16 && seen > 0 && seen < few_digits_f16)
      keep_f32(u, cat("'", g[v].name, "' is at most ", static_cast<float>(seen), ", where f16 has few digits"));
  };
  for (Unit& u : units) {
    for (const ValueId v : u.gives) judge(u, v);
    for (const Unit::Read& r : u.reads) judge(u, r.value);
    if (!sums || !u.node || u.reads.empty() || !listed(sums_of_squares, g[u.node])) continue;
    const ValueId x = u.reads[0].value;
    const Type& t = g[x].fact.type;
    const double count = t.has_rank() && t.rank() > 0 && t.shape->back().is_literal()
                             ? static_cast<double>(t.shape->back().literal())
                             : elements(t);
    if (const double seen = of(measured, x, 0); seen * seen * count * safety > most)
      keep_f32(u, cat("the sum of squares of '", g[x].name, "' may reach ", static_cast<float>(seen * seen * count)));
  }
}

void keep_by_operator(const Graph& g, std::span<Unit> units, const std::map<ValueId, double>& bounds, DType half) {
  if (half != DType::f16) return;
  for (Unit& u : units)
    if (u.node && listed(overflows, g[u.node]) && std::any_of(u.reads.begin(), u.reads.end(), [&](const Unit::Read& r) {
          return !bounds.contains(r.value) && !g.is_constant(r.value);
        }))
      keep_f32(u, "this operator overflows in f16 on large numbers, and nothing bounds its operand");
}

}  // namespace cameo::quant
