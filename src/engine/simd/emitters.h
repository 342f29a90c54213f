// Our own vectorised kernels, one emitter per family of operators.
#pragma once

#include "engine/compiler.h"

namespace cameo::engine {

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
bool emit_group_norm(Compiler& c, NodeId n);  // GroupNormalization, InstanceNormalization
bool emit_softmax(Compiler& c, NodeId n);  // Softmax, LogSoftmax
bool emit_reduce(Compiler& c, NodeId n);   // ReduceMean, ReduceSum, ReduceMax, ReduceMin
bool emit_resize(Compiler& c, NodeId n);
bool emit_quantize(Compiler& c, NodeId n);
bool emit_dequantize(Compiler& c, NodeId n);
bool emit_integer_product(Compiler& c, NodeId n);  // MatMulInteger, QLinearMatMul
bool emit_integer_conv(Compiler& c, NodeId n);     // ConvInteger, QLinearConv
bool emit_cast(Compiler& c, NodeId n);  // from i32 to f32
bool emit_dynamic_quantize(Compiler& c, NodeId n);

}  // namespace cameo::engine
