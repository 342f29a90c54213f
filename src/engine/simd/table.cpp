#include "engine/emit.h"
#include "engine/simd/blocked_product.h"
#include "engine/simd/emitters.h"
#include "engine/simd/vnni_rows.h"

namespace cameo::engine {

// long: a table, one operator per line
std::span<const EmitterRow> simd_emitters() {
  static constexpr EmitterRow rows[] = {
      {"Reshape", emit_view},
      {"Flatten", emit_view},
      {"Squeeze", emit_view},
      {"Unsqueeze", emit_view},
      {"Identity", emit_view},
      {"Transpose", emit_transpose},
      {"Concat", emit_concat},
      {"Split", emit_split},
      {"Slice", emit_slice},
      {"Expand", emit_expand},
      {"Gather", emit_gather},
      {"LayerNormalization", emit_layer_norm},
      {"RMSNormalization", emit_rms_norm},
      {"GroupNormalization", emit_group_norm},
      {"InstanceNormalization", emit_group_norm},
      {"Softmax", emit_softmax},
      {"LogSoftmax", emit_softmax},
      {"ReduceMean", emit_reduce},
      {"ReduceSum", emit_reduce},
      {"ReduceMax", emit_reduce},
      {"ReduceMin", emit_reduce},
      {"Resize", emit_resize},
      {"QuantizeLinear", emit_quantize},
      {"DequantizeLinear", emit_dequantize},
      {"MatMulInteger", emit_integer_product},
      {"QLinearMatMul", emit_integer_product},
      {"ConvInteger", emit_integer_conv},
      {"QLinearConv", emit_integer_conv},
      {"MatMulNBits", [](Compiler& c, NodeId n) { return emit_blocked_product(c, n, multiply_tile_by_rows); }},
      {"GatherBlockQuantized", emit_blocked_gather},
      {"Conv", emit_float_conv},
      {"MatMul", emit_float_matmul},
      {"Gemm", emit_float_gemm},
      {"MaxPool", emit_float_pool},
      {"AveragePool", emit_float_pool},
      {"GlobalAveragePool", emit_float_global_pool},
      {"GlobalMaxPool", emit_float_global_pool},
      {"Cast", emit_cast},
      {"DynamicQuantizeLinear", emit_dynamic_quantize},
      {"DynamicQuantizeLSTM", emit_byte_lstm},
      {"Add", emit_elementwise},
      {"Sub", emit_elementwise},
      {"Mul", emit_elementwise},
      {"Div", emit_elementwise},
      {"Max", emit_elementwise},
      {"Min", emit_elementwise},
      {"Relu", emit_elementwise},
      {"LeakyRelu", emit_elementwise},
      {"Elu", emit_elementwise},
      {"Sigmoid", emit_elementwise},
      {"Tanh", emit_elementwise},
      {"Exp", emit_elementwise},
      {"Log", emit_elementwise},
      {"Sqrt", emit_elementwise},
      {"Erf", emit_elementwise},
      {"Abs", emit_elementwise},
      {"Neg", emit_elementwise},
      {"Reciprocal", emit_elementwise},
      {"Floor", emit_elementwise},
      {"Ceil", emit_elementwise},
      {"HardSwish", emit_elementwise},
      {"HardSigmoid", emit_elementwise},
      {"Swish", emit_elementwise},
      {"Gelu", emit_elementwise},
      {"Clip", emit_elementwise},
      {"Softplus", emit_elementwise},
  };
  return rows;
}

std::span<const EmitterRow> vnni_emitters() {
  static constexpr EmitterRow rows[] = {
      {"ConvInteger", emit_vnni_conv},
      {"QLinearConv", emit_vnni_conv},
      {"MatMulInteger", emit_vnni_product},
      {"QLinearMatMul", emit_vnni_product},
  };
  return has_vnni() ? std::span<const EmitterRow>(rows) : std::span<const EmitterRow>();
}

}  // namespace cameo::engine
