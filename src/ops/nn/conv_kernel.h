// The convolution kernels behind Conv, ConvInteger, QLinearConv and ConvTranspose.
#pragma once

#include <span>
#include <vector>

#include "ops/nn/window.h"

namespace cameo::ops {

struct ConvSizes {
  int64_t batch = 0, in_channels = 0, out_channels = 0, groups = 1;
  Windows windows;
};

// y[n, m] = bias[m] + sum over the group's channels and taps. `bias` may be empty. C: float, double, int64_t.
template <class C>
std::vector<C> convolve(const ConvSizes& s, std::span<const C> x, std::span<const C> w, std::span<const C> bias);

// The transpose: `windows.out` are x's sizes and `windows.in` y's. w is [in_channels, out_channels / groups,
// kernel...].
template <class C>
std::vector<C> convolve_transposed(const ConvSizes& s, std::span<const C> x, std::span<const C> w,
                                   std::span<const C> bias);

}  // namespace cameo::ops
