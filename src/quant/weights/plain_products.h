// Products with a constant weight in the form that MatMulNBits has: data times weight, neither scaled nor transposed.
#pragma once

#include <functional>

#include "quant/weights/targets.h"

namespace cameo::quant {

// Gemm with alpha, beta or transA, and MatMul whose left operand is the weight, become a product with what they do
// beside it. `nodes` says which may: those whose weight is to stay are left as they are.
void plain_products(Graph& g, const std::function<bool(NodeId product, ValueId weight)>& nodes);

}  // namespace cameo::quant
