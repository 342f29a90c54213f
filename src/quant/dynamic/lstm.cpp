#include "quant/dynamic/lstm.h"

#include <algorithm>
#include <cmath>

#include "kernels/carrier.h"
#include "kernels/number_cast.h"
#include "ops/on.h"
#include "quant/weights/rewrite.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

struct Quantized {
  Tensor levels, scales, zeros;
};

// [directions, 4 * hidden, depth] to levels [directions, depth, 4 * hidden].
Quantized transposed(const Tensor& w, bool per_channel) {
  const int64_t directions = w.shape()[0], outputs = w.shape()[1], depth = w.shape()[2];
  const Loaded<float> x(w);
  const int64_t scales_each = per_channel ? outputs : 1;
  std::vector<float> scales(static_cast<size_t>(directions * scales_each));
  std::vector<int8_t> levels(static_cast<size_t>(w.count())), zeros(scales.size());
  for (int64_t d = 0; d < directions; ++d) {
    const auto scale = [&](int64_t n) -> float& {
      return scales[static_cast<size_t>(d * scales_each + (per_channel ? n : 0))];
    };
    for (int64_t n = 0; n < outputs; ++n)
      for (int64_t k = 0; k < depth; ++k)
        scale(n) = std::max(scale(n), std::fabs(x[(d * outputs + n) * depth + k]) / 127);
    for (int64_t n = 0; n < outputs; ++n)
      for (int64_t k = 0; k < depth; ++k) {
        const float level = scale(n) > 0 ? std::nearbyint(x[(d * outputs + n) * depth + k] / scale(n)) : 0;
        levels[static_cast<size_t>((d * depth + k) * outputs + n)] =
            kernels::cast_number<int8_t>(std::clamp(level, -127.0F, 127.0F));
      }
  }
  const std::vector<int64_t> shape =
      per_channel ? std::vector<int64_t>{directions, outputs} : std::vector<int64_t>{directions};
  return {Tensor::of<int8_t>(DType::i8, {directions, depth, outputs}, levels),
          Tensor::of<float>(DType::f32, shape, scales), Tensor::of<int8_t>(DType::i8, shape, zeros)};
}

ir::NamedAttrs attributes(const op::LSTM& a) {
  ir::NamedAttrs out{{"direction", a.direction}, {"input_forget", a.input_forget}};
  if (a.activation_alpha) out.push_back({"activation_alpha", *a.activation_alpha});
  if (a.activation_beta) out.push_back({"activation_beta", *a.activation_beta});
  if (a.activations) out.push_back({"activations", *a.activations});
  if (a.clip) out.push_back({"clip", *a.clip});
  if (a.hidden_size) out.push_back({"hidden_size", *a.hidden_size});
  return out;
}

}  // namespace

std::string put_dynamic_lstm(Graph& g, NodeId n, bool per_channel) {
  const auto* lstm = g[n].as<op::LSTM>();
  if (!lstm || lstm->layout != 0) return "onnxruntime has no form with this layout";
  std::optional<Tensor> weights[2];
  for (size_t i = 0; i < 2; ++i) {
    const ValueId v = g.input(n, i + 1);
    if (!v || !g.is_constant(v) || g[v].fact.dtype() != DType::f32) return "its weights are not constant f32";
    weights[i] = g.constant(v);
    if (!weights[i] || weights[i]->rank() != 3) return "its weights do not have three axes";
    if (!std::all_of(weights[i]->shape().begin(), weights[i]->shape().end(), [](int64_t s) { return s > 0; }))
      return "its weights are empty";
  }
  const RegionId home = g.main();
  std::vector<ValueId> inputs(12);
  for (size_t i = 0; i < 8; ++i) inputs[i] = g.input(n, i);
  const ValueId old[2] = {inputs[1], inputs[2]};
  for (size_t i = 0; i < 2; ++i) {
    const Quantized q = transposed(*weights[i], per_channel);
    const std::string name = g[old[i]].name;
    const auto named = [&](const char* suffix) { return name.empty() ? "" : cat(name, suffix); };
    inputs[1 + i] = g.add_constant(q.levels, named("_quantized"), home);
    inputs[8 + 2 * i] = g.add_constant(q.scales, named("_scale"), home);
    inputs[9 + 2 * i] = g.add_constant(q.zeros, named("_zero_point"), home);
  }
  const std::vector<ValueId> outputs = g[n].outputs;
  const NodeId made = microsoft_node(g, g[n].home, "DynamicQuantizeLSTM", attributes(*lstm), inputs, outputs.size(), n);
  for (size_t i = 0; i < outputs.size(); ++i) take_over(g, outputs[i], g[made].outputs[i]);
  g.erase(n);
  for (const ValueId v : old) drop_unused(g, v);
  return "";
}

}  // namespace cameo::quant
