// Weights in few bits from one form into the other, level by level.
#pragma once

#include "quant/weights/weights.h"

namespace cameo::quant {

// MatMulNBits and GatherBlockQuantized to DequantizeLinear with blocks, or back. What is in the form already stays;
// what has no such form stays too, and its row says why. Throws quantize.nothing where there is neither.
WeightResult convert_form(Model& m, WeightForm to);

}  // namespace cameo::quant
