// How DynamicQuantizeLinear and com.microsoft's kin round data to bytes: by the range that the data has.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "support/layers.h"

namespace cameo::ops {

struct DynamicRange {
  float scale = 1, zero = 0;

  DynamicRange() = default;
  explicit DynamicRange(std::span<const float> x) {
    float top = 0, bottom = 0;
    for (const float v : x) top = std::max(top, v), bottom = std::min(bottom, v);
    scale = top == bottom ? 1.0f : (top - bottom) / 255.0f;  // of zeros only: as onnxruntime has it
    const float place = std::nearbyint(std::clamp(0.0f - bottom / scale, 0.0f, 255.0f));
    zero = std::isnan(place) ? 0.0f : place;
  }

  float level(float v) const { return std::isnan(v) ? 0 : std::clamp(std::nearbyint(v / scale) + zero, 0.0f, 255.0f); }
  float rounded(float v) const { return (level(v) - zero) * scale; }
};

}  // namespace cameo::ops
