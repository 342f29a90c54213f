// Convolutions and matrix products of bytes by constant weights, with AVX-512 VNNI: sums, zero points and what becomes
// of the sums in one pass. Results are the reference's bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "engine/kernel.h"
#include "engine/simd/integer.h"
#include "engine/simd/vnni_rows.h"

namespace cameo::engine {

// Images of up to three axes; a matrix is an image of one column whose pixels are its rows.
struct ByteImages {
  using Axes = std::array<int64_t, 3>;
  int64_t images = 1, groups = 1, in_channels = 1, out_channels = 1;  // channels of one group
  Axes in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, strides{1, 1, 1}, dilations{1, 1, 1}, begin{0, 0, 0};

  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
  int64_t pixel_bytes() const { return groups * in_channels; }
  int64_t columns() const { return groups * out_channels; }
  int64_t depth() const { return in_channels * kernel[0] * kernel[1] * kernel[2]; }
  bool is_depthwise() const { return groups > 1 && in_channels == 1 && out_channels == 1; }
  bool is_pointwise() const {  // each pixel of the result is made of one pixel
    const Axes one{1, 1, 1};
    return kernel == one && strides == one && begin == Axes{} && in == out;
  }
  Axes padded() const;  // sizes that all windows lie in
};

// How the weights are packed: panels of signed bytes, or four taps of 64 channels at a time where each channel has its
// own; then the sum of each channel's weights (i32).
struct ByteWeights {
  ByteWeights(const ByteImages& s, std::vector<int32_t> channel_zeros);

  std::vector<VnniPanel> panels;
  std::vector<size_t> first_panel;  // of each group; one more at the end
  int64_t group_columns = 0;        // of a group in a row of sums: its channels, and one for the sum of the bytes
  int64_t stride = 0;               // of a row of sums
  std::vector<int32_t> zeros;       // per channel; empty where all are 0
  uint64_t panel_bytes = 0, bytes = 0;
};
// The constant that they are: channel `c` has its element `i` (of in_channels by kernel) at c * channel_step + i *
// step.
struct ByteSource {
  const std::byte* bytes;
  int32_t shift;  // 128 for unsigned ones, which lose it
  int64_t channel_step, step;

  int8_t at(int64_t channel, int64_t i) const {  // wraps for signed ones
    return static_cast<int8_t>(std::to_integer<int32_t>(bytes[channel * channel_step + i * step]) - shift);
  }
};
void pack_byte_weights(const ByteImages& s, const ByteWeights& w, const ByteSource& from, std::byte* to);

enum class ByteResult : uint8_t { sums, floats, bytes, product_bytes };
struct ByteProduct {
  ByteProduct(const ByteImages& s, std::vector<int32_t> zeros) : size(s), weights(s, std::move(zeros)) {}

  ByteImages size;
  ByteWeights weights;
  bool is_signed = false;       // the image's bytes
  bool channels_last = false;   // the image; a matrix always is
  std::optional<int32_t> zero;  // the image's zero point; without it, the third input is
  ByteResult result = ByteResult::sums;
  DType out = DType::i32;
  bool out_last = false;  // whether the result's channels lie together
  Requantize finish;      // bytes: scales and bias per channel
};
// Inputs: the image, the packed weights, and the zero point where it varies. Precondition: has_vnni().
std::unique_ptr<Kernel> make_byte_product(ByteProduct p);

}  // namespace cameo::engine
