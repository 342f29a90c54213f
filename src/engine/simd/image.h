// Images as fast convolutions and pools of floats read them: with their padding, so that no tap needs bounds, and every
// row split by the stride, so that the taps of neighbouring windows lie side by side.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/desc.h"
#include "ops/nn/window.h"

namespace cameo::engine {

// One channel in one or two dimensions; one is an image of one row.
struct ImageShape {
  int64_t height = 1, width = 1, above = 0, left = 0, out_height = 1, out_width = 1, stride_y = 1, stride_x = 1;
  int64_t kernel_y = 1, kernel_x = 1, step_y = 1, step_x = 1;
  int64_t padded_height = 1, part = 1;  // `part` numbers of a row for each remainder by the stride

  int64_t row() const { return part * stride_x; }
  // Of the copy of one channel. A few more may be read behind its end.
  int64_t padded() const { return padded_height * row(); }
  int64_t pixels() const { return out_height * out_width; }
  bool is_copied() const;  // false: an image that lies there as it should
  // Where the taps of a window read in a copy, from the window's place.
  std::vector<int64_t> taps() const;
  int64_t place(int64_t out_y) const { return out_y * stride_y * row(); }  // of the windows of one output row
  void copy(const float* image, float* to, float outside) const;
};
inline constexpr int64_t read_behind = 64;  // floats that kernels may read behind a copy

// None where there are more dimensions, or where the windows are far from the image (engine/windows.h).
std::optional<ImageShape> image_shape(const Windows& w);

// The numbers of a constant, copied only where they are not aligned.
class Floats {
 public:
  explicit Floats(const Tensor& t);
  const float* data() const { return copy_.empty() ? there_ : copy_.data(); }

 private:
  Tensor keeps_;
  const float* there_ = nullptr;
  std::vector<float> copy_;
};

}  // namespace cameo::engine
