// LSTM with 8-bit weights, as onnxruntime computes it.
#pragma once

#include <string>

#include "ir/graph.h"
#include "quant/layer.h"

namespace cameo::quant {

// Replaces an LSTM by com.microsoft.DynamicQuantizeLSTM; says why where that cannot be.
std::string put_dynamic_lstm(Graph& g, NodeId n, bool per_channel);

}  // namespace cameo::quant
