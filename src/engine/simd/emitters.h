// Our own vectorised kernels, one emitter per family of operators.
#pragma once

#include "engine/compiler.h"

namespace cameo::engine {

// An axis counted from either end, as a number from 0; none where it is outside. Attributes are checked by the shape
// rule; axes in long constants, which rules do not read, are not.
inline std::optional<size_t> axis_in(int64_t axis, size_t rank) {
  const auto n = static_cast<int64_t>(rank);
  return axis < -n || axis >= n ? std::nullopt : std::optional(static_cast<size_t>(axis < 0 ? axis + n : axis));
}

bool emit_elementwise(Compiler& c, NodeId n);
bool emit_view(Compiler& c, NodeId n);  // Reshape and its like: the same bytes
bool emit_transpose(Compiler& c, NodeId n);
bool emit_concat(Compiler& c, NodeId n);
bool emit_split(Compiler& c, NodeId n);
bool emit_slice(Compiler& c, NodeId n);
bool emit_expand(Compiler& c, NodeId n);
bool emit_gather(Compiler& c, NodeId n);
bool emit_layer_norm(Compiler& c, NodeId n);
bool emit_rms_norm(Compiler& c, NodeId n);
bool emit_group_norm(Compiler& c, NodeId n);                              // GroupNormalization, InstanceNormalization
bool emit_softmax(Compiler& c, NodeId n);                                 // Softmax, LogSoftmax
bool emit_softmax_columns(Compiler& c, NodeId n, size_t axis, bool log);  // over an axis that others follow
bool emit_reduce(Compiler& c, NodeId n);                                  // ReduceMean, ReduceSum, ReduceMax, ReduceMin
bool emit_resize(Compiler& c, NodeId n);
bool emit_quantize(Compiler& c, NodeId n);
bool emit_dequantize(Compiler& c, NodeId n);
bool emit_integer_product(Compiler& c, NodeId n);  // MatMulInteger, QLinearMatMul
bool emit_integer_conv(Compiler& c, NodeId n);     // ConvInteger, QLinearConv
bool emit_vnni_product(Compiler& c, NodeId n);     // the same two, precondition: has_vnni()
bool emit_vnni_conv(Compiler& c, NodeId n);
bool emit_float_conv(Compiler& c, NodeId n);
bool emit_float_matmul(Compiler& c, NodeId n);
bool emit_float_gemm(Compiler& c, NodeId n);
bool emit_float_pool(Compiler& c, NodeId n);         // MaxPool, AveragePool
bool emit_float_global_pool(Compiler& c, NodeId n);  // GlobalAveragePool, GlobalMaxPool
bool emit_cast(Compiler& c, NodeId n);               // from i32 to f32
bool emit_dynamic_quantize(Compiler& c, NodeId n);
bool emit_byte_lstm(Compiler& c, NodeId n);  // DynamicQuantizeLSTM

}  // namespace cameo::engine
