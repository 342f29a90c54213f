// Conversion of a model to another opset or to half precision.
//
//   cameo::convert(cameo::load("net.onnx"), {.opset = 13}).model.save("net13.onnx");
#pragma once

#include <string>
#include <vector>

#include "cameo/model.h"

namespace cameo {

enum class FloatType : uint8_t { keep, f16, bf16 };

struct ConvertSettings {
  int opset = 0;                           // of ai.onnx, up or down; 0: the model's own
  bool lossy = false;                      // allow expansions that are wrong on inf, NaN or overflow, or approximate
  FloatType float_type = FloatType::keep;  // of every f32 value and weight, with casts around what takes f32 only
  bool keep_io = false;                    // with float_type: inputs and outputs stay f32
  std::vector<std::string> keep = {};      // with float_type: operators that go on computing in f32
  bool inline_functions = false;           // calls of the model's own functions become their nodes
};

struct Converted {
  Model model;
  size_t values = 0, weights = 0, casts = 0;  // to half precision
  std::vector<Diag> findings;
};

// Throws use.opset for an unknown opset, convert.* with one finding per node that the opset cannot express.
Converted convert(Model model, const ConvertSettings& settings);

}  // namespace cameo
