// Sliding windows in shape rules.
#pragma once

#include "ops/nn/window.h"
#include "ops/preconditions.h"

namespace cameo::ops {

// The result's spatial sizes for an input [batch, channels, sizes...] and a kernel with one size per spatial axis.
Shape windowed_sizes(const Infer& c, const WindowAttrs& w, const Shape& x, std::span<const Dim> kernel);
// The spatial sizes of a weight, which 'kernel_shape' may repeat.
Shape kernel_of(const Infer& c, const std::optional<std::vector<int64_t>>& kernel_shape, const Shape& weight);
// [batch, channels, sizes...], and a weight of the same rank.
void want_image(const Infer& c, size_t input);
void want_image_and_weight(const Infer& c, size_t input, size_t weight);

}  // namespace cameo::ops
