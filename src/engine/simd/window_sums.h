// Weights of a convolution of bytes less their zero points may not fit in a signed byte. The convolution then takes
// what fits, and the rest, one number per output channel, times the sums of the windows is added to its sums.
#pragma once

#include "engine/kernel.h"

namespace cameo::engine {

// Images with their channels last, in one or two dimensions.
struct WindowSize {
  int64_t images, groups, in_channels, out_channels;  // channels of all groups together
  int64_t height, width, out_height, out_width, kernel_y, kernel_x, stride_y, stride_x, step_y, step_x, above, left;
};

// Inputs: the sums (output 0 takes their buffer), the image, its zero point in 32 bits.
std::unique_ptr<Kernel> make_window_sums(const WindowSize& s, bool is_signed, std::vector<int32_t> rest);

// The same on the calling thread, of one image. `scratch` has a number per pixel and group of the input.
void add_window_rest(const WindowSize& s, bool is_signed, const std::byte* image, int32_t zero,
                     const std::vector<int32_t>& rest, int32_t* sums, int32_t* scratch);

// A zero point in 32 bits.
std::unique_ptr<Kernel> make_wide_zero(bool is_signed);

}  // namespace cameo::engine
