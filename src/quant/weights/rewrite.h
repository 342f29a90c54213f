// Quantized weights put into a graph.
#pragma once

#include "ops/op_def.h"
#include "quant/weights/stored.h"
#include "quant/weights/targets.h"

namespace cameo::quant {

// com.microsoft's operators that compute with packed levels.
void put_nbits(Graph& g, const WeightTarget& t, const Matrix& m);
// DequantizeLinear with blocks before whatever reads the weight.
void put_dequantize(Graph& g, const WeightTarget& t, const Matrix& m);

}  // namespace cameo::quant
