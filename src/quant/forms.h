// The two forms of an 8-bit model: QuantizeLinear and DequantizeLinear around float operators, or operators on
// integers.
#pragma once

#include <string>

#include "ir/graph.h"
#include "quant/layer.h"

namespace cameo::quant {

// Conv and MatMul between DequantizeLinear and QuantizeLinear become QLinearConv and QLinearMatMul; what moves elements
// works on the integers themselves. Nodes without such a form stay as they are. Returns how many changed.
size_t to_qoperator(Graph& g);

// QLinearConv and QLinearMatMul become Conv and MatMul between DequantizeLinear and QuantizeLinear.
size_t to_qdq(Graph& g);

// "qdq" or "qoperator"; throws use.value for others.
void check_form(const std::string& name);
size_t to_form(Graph& g, const std::string& name);

}  // namespace cameo::quant
