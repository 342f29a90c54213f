// Small floating-point formats, by their parameters: bits to value and back, rounding to nearest, ties to even.
#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace cameo::ir {

// Precondition: t is one of f16, bf16, f8*, f6*, f4*. `bits` holds the code in its low bits.
float decode_float(DType t, uint32_t bits);

// What becomes of values beyond the largest finite one (and of infinities where the format has none).
enum class Overflow : uint8_t { saturate, to_inf_or_nan };
uint32_t encode_float(DType t, double v, Overflow overflow = Overflow::to_inf_or_nan);

double largest_finite(DType t);  // of any floating dtype

enum class E8M0Rounding : uint8_t { up, down, nearest };
uint32_t encode_e8m0(double v, E8M0Rounding rounding, bool saturate);

}  // namespace cameo::ir
