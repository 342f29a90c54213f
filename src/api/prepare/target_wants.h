// What a target wants of a model that is prepared for it: the `wants` lines of src/api/lint/targets.
#pragma once

#include <string>
#include <vector>

#include "api/lint/target_file.h"

namespace cameo::preparing {
using namespace api;

struct Wants {
  std::string title;
  bool fixed_sizes = false;
  int64_t oldest_opset = 0, newest_opset = 0;
  std::vector<std::string> floats;  // "f32", "f16", ...
  std::string nms;                  // a form of Detections
  std::string resize;               // "antialias" or "linear"
  bool bytes = true;                // takes u8 inputs
  std::string quantize;             // the target of quantize that it is
};

// "tensorrt" or "tensorrt:10.4". Throws use.target.
Wants wants_of(const std::string& target);

}  // namespace cameo::preparing
