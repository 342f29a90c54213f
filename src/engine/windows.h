// What fast convolutions and pools ask of a node beyond what its shape rule does.
#pragma once

#include <algorithm>

#include "engine/desc.h"
#include "ops/nn/window.h"

namespace cameo::engine {

// The channels of image and weights divide into so many groups. Precondition: both have at least two axes.
inline bool fits_groups(const Desc& x, const Desc& w, int64_t group) {
  return group >= 1 && x.dims[1] % group == 0 && w.dims[0] % group == 0 && w.dims[1] == x.dims[1] / group;
}

// Paddings, strides or dilations far larger than the image: kernels that lay the padded image out would take memory for
// them, and oneDNN counts in 32 bits. The reference skips what lies outside.
inline bool far_from_image(const Windows& w) {
  constexpr int64_t longest = 1 << 20;
  double padded = 1, image = 1;
  for (size_t i = 0; i < w.rank(); ++i) {
    if (std::max({w.begin[i], w.end[i], w.strides[i], w.dilations[i], w.kernel[i]}) > longest) return true;
    padded *= static_cast<double>(std::max(w.begin[i] + w.in[i] + w.end[i],
                                           (w.out[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1));
    image *= static_cast<double>(w.in[i] + w.out[i]);
  }
  return padded > 16 * image + static_cast<double>(longest);
}

}  // namespace cameo::engine
