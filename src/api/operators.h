// The table behind include/cameo/operators.h: what exports and probes were seen to emit. tools/operators.py writes it
// down in generated/lowered_operators.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cameo/operators.h"
#include "support/layers.h"

namespace cameo::api {

// A row of the generated table.
struct SeenLowering {
  std::string_view name;
  int64_t from_opset;     // -1: never seen at work
  std::string_view onnx;  // separated by spaces
};
std::span<const SeenLowering> seen_lowerings();

}  // namespace cameo::api
