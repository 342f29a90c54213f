#include "engine/simd/integer.h"

#include <algorithm>
#include <array>

#include "kernels/carrier.h"

namespace cameo::engine {

bool is_byte(DType t) { return t == DType::u8 || t == DType::i8; }

ValueId input_of(const Node& node, size_t i) { return i < node.inputs.size() ? node.inputs[i] : ValueId(); }

std::optional<int32_t> constant_zero(Compiler& c, ValueId v) {
  if (!v) return 0;
  if (!c.is_constant(v) || c.desc(v)->count() != 1) return std::nullopt;
  return static_cast<int32_t>(c.constant(v)->double_at(0));
}

namespace {

// Scales of the two operands and of the result, and the result's zero point: which inputs of the node they are.
std::optional<Requantize> result_of(Compiler& c, const Node& node, int64_t channels, std::array<size_t, 4> at) {
  for (const size_t i : at)
    if (!c.is_constant(node.inputs[i])) return std::nullopt;
  for (const size_t i : {at[0], at[1], at[2]})
    if (c.desc(node.inputs[i])->dtype != DType::f32) return std::nullopt;
  const Loaded<float> x(*c.constant(node.inputs[at[0]])), w(*c.constant(node.inputs[at[1]])),
      y(*c.constant(node.inputs[at[2]]));
  if (x.size() != 1 || y.size() != 1 || (w.size() != 1 && w.size() != channels) ||
      c.desc(node.inputs[at[3]])->count() != 1)
    return std::nullopt;
  Requantize out;
  for (int64_t i = 0; i < channels; ++i) out.scale.push_back(x[0] * w[w.size() == 1 ? 0 : i] / y[0]);
  out.bias.assign(static_cast<size_t>(channels), 0);
  out.zero = static_cast<float>(c.constant(node.inputs[at[3]])->double_at(0));
  return out;
}

}  // namespace

std::optional<Requantize> conv_result(Compiler& c, const Node& node, int64_t channels) {
  auto out = result_of(c, node, channels, {1, 4, 6, 7});
  const ValueId bias = input_of(node, 8);
  if (!out || !bias) return out;
  if (!c.is_constant(bias) || c.desc(bias)->dtype != DType::i32 || c.desc(bias)->count() != channels)
    return std::nullopt;
  const Loaded<int64_t> b(*c.constant(bias));
  for (int64_t i = 0; i < channels; ++i) out->bias[static_cast<size_t>(i)] = static_cast<int32_t>(b[i]);
  return out;
}

std::optional<Requantize> product_result(Compiler& c, const Node& node, int64_t columns) {
  return result_of(c, node, columns, {1, 4, 6, 7});
}

}  // namespace cameo::engine
