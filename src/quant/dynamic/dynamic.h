// Dynamic quantization: weights as 8-bit integers, data rounded to 8 bits while the model runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "quant/layer.h"

namespace cameo::quant {

struct DynamicOptions {
  bool microsoft = true;                  // com.microsoft's operators for onnxruntime; else ONNX's own only
  bool per_channel = true;                // a scale per output, or one per weight
  std::vector<std::string> keep;          // nodes that stay float: names with * and ?, or operators
  std::function<bool(NodeId)> only = {};  // empty: all nodes
};

struct DynamicRow {
  std::string name, op, why;  // why: it stays float
  bool quantized = false;
};

// MatMul, Gemm, Conv and, with com.microsoft's operators, LSTM with constant f32 weights, in bodies too. A value that
// several nodes read is rounded once. Throws use.node-name, and quantize.nothing where
// `keep` leaves nothing.
std::vector<DynamicRow> quantize_dynamic(Model& m, const DynamicOptions& options);
inline constexpr int64_t dynamic_opset = 11;  // at least

}  // namespace cameo::quant
