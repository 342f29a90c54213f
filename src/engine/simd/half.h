// f16 and bf16: computed in f32, kept in 16 bits where something else reads them.
#pragma once

#include "engine/compiler.h"

namespace cameo::engine {

bool is_half(DType t);
// A constant of 16 bits in f32. Large ones live only while they are packed.
Tensor widened(const Tensor& t);
bool emit_half_cast(Compiler& c, NodeId n);  // between f32 and 16 bits

}  // namespace cameo::engine
