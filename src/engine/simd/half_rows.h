// Between f32 and the two kinds of 16 bits: exact upwards, to the nearest even downwards, as the reference kernels do
// it.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

void widen_f16_row(const uint16_t* x, float* y, int64_t n);
void widen_bf16_row(const uint16_t* x, float* y, int64_t n);
void narrow_f16_row(const float* x, uint16_t* y, int64_t n);  // beyond the type's range: infinity
void narrow_bf16_row(const float* x, uint16_t* y, int64_t n);

}  // namespace cameo::engine
