// Resampling along one axis at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ir/tensor.h"

namespace cameo::ops {

struct AxisResize {
  int64_t in = 0, out = 0;
  double scale = 1;           // may differ from out / in when it was given
  double start = 0, end = 1;  // region of interest, for tf_crop_and_resize
};

struct ResizeModes {
  std::string_view mode = "nearest", coordinates = "half_pixel", nearest = "round_prefer_floor";
  double cubic_a = -0.75, extrapolation = 0;
  bool antialias = false, exclude_outside = false;
};

// Resamples every axis of `x`. Throws "eval.attribute" for unknown modes.
Tensor resize(const Tensor& x, const std::vector<AxisResize>& axes, const ResizeModes& modes);

// floor(size * scale) in floats, as every engine computes it. Throws "value.range" for what is not a size.
int64_t scaled_size(int64_t size, float scale);
int64_t resized_size(double size);  // rounded down

}  // namespace cameo::ops
