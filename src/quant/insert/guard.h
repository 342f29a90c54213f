// Float nodes that the target would quantize by itself, and must not.
#pragma once

#include "ir/graph.h"
#include "quant/layer.h"

namespace cameo::quant {

// ONNX Runtime rounds the weights of every float Conv, ConvTranspose and Gemm between DequantizeLinear and
// QuantizeLinear, with one scale for all channels: of a node that was left float for its noise, the noise comes back,
// larger. A LeakyRelu with slope 1 behind the node changes no number, costs nothing because it is fused, and keeps it
// float. A node between DequantizeLinear with scales per channel and QuantizeLinear would become one on integers with
// the first of these scales. Returns how many there are.
size_t guard_float_nodes(Graph& g);

}  // namespace cameo::quant
