// Methods that look at samples, judged by the model's outputs.
#include <algorithm>

#include "ops/inline.h"
#include "quant/evaluate/evaluation.h"
#include "quant/weights/weights.h"

namespace cameo::quant {

namespace {

constexpr double most_output_bytes = 256 << 20;
constexpr int64_t assumed_size = 64;  // of an axis that is open
constexpr size_t most_samples = 16, least_samples = 2;

// As many as their outputs leave room for.
size_t samples_to_judge(const Graph& g) {
  double bytes = 1;
  for (const ValueId v : g[g.main()].outputs) {
    double elements = 4;
    if (g[v].fact.has_rank())
      for (const Dim d : g[v].fact.shape())
        elements *= static_cast<double>(d.is_literal() ? d.literal() : assumed_size);
    bytes = std::min(most_output_bytes, bytes + elements);  // also where sizes are so large that the sum is no number
  }
  return static_cast<size_t>(
      std::clamp(most_output_bytes / bytes, static_cast<double>(least_samples), static_cast<double>(most_samples)));
}

}  // namespace

// What is best for every product by itself need not be best for all of them together.
WeightResult quantize_weights(Model& m, const Samples& samples, const WeightOptions& options) {
  if (!samples || options.method == WeightMethod::rtn) return quantize_each_weight(m, samples, options);
  ops::inline_functions(m);
  const Model before = m;
  std::vector<std::vector<Datum>> kept;
  const size_t most = samples_to_judge(m.graph);
  const auto recorded = [&](std::vector<Datum>& inputs) {
    if (!samples(inputs)) return false;
    if (kept.size() < most) kept.push_back(inputs);
    return true;
  };
  WeightResult out = quantize_each_weight(m, recorded, options);
  Model plain = before;
  WeightOptions rounding = options;
  rounding.method = WeightMethod::rtn;
  WeightResult rounded = quantize_each_weight(plain, {}, rounding);
  const Evaluator judge(before, std::move(kept), {}, options.run);
  if (judge.measure(m, {}).worst_db() >= judge.measure(plain, {}).worst_db()) return out;
  m = std::move(plain);
  for (size_t i = 0; i < rounded.weights.size() && i < out.weights.size(); ++i)
    rounded.weights[i].db = rounded.weights[i].rtn_db = out.weights[i].rtn_db;
  return rounded;
}

}  // namespace cameo::quant
