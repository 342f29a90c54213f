// Dynamic quantization: 8-bit weights, data rounded to 8 bits while the model runs; no samples are needed.
//
//   cameo::quantize_dynamic(cameo::load("net.onnx")).model.save("net.dynamic.onnx");
#pragma once

#include <string>
#include <vector>

#include "cameo/model.h"

namespace cameo {

struct DynamicSettings {
  std::string target = "onnxruntime";  // com.microsoft's operators too; generic: only ONNX's own
  bool per_channel = true;             // a scale per output of a weight, or one per weight
  std::vector<std::string> keep = {};  // nodes that stay float: names with * and ?, or operators
  int opset = 0;                       // 0: the model's own, at least 11
};

struct DynamicReport {
  struct Node {
    std::string name, op, why;  // why: it stays float
    bool quantized = false;
  };
  std::vector<Node> nodes;  // products and recurrent layers
};
std::string to_json(const DynamicReport& report);

struct DynamicQuantized {
  Model model;
  DynamicReport report;
};

// MatMul, Gemm, Conv and, for onnxruntime, LSTM with constant weights. Where there are none the model stays as it is,
// with the finding quantize.nothing. Throws use.target, use.node-name, and quantize.nothing where `keep` leaves
// nothing.
DynamicQuantized quantize_dynamic(Model model, const DynamicSettings& settings = {});

}  // namespace cameo
