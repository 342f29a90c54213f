#include "engine/simd/image.h"

#include <algorithm>
#include <cstring>

#include "engine/windows.h"

namespace cameo::engine {

bool ImageShape::is_copied() const {
  return stride_x != 1 || above != 0 || left != 0 || padded_height != height || part != width;
}

std::vector<int64_t> ImageShape::taps() const {
  std::vector<int64_t> out;
  for (int64_t y = 0; y < kernel_y; ++y)
    for (int64_t x = 0; x < kernel_x; ++x)
      out.push_back(y * step_y * row() + x * step_x % stride_x * part + x * step_x / stride_x);
  return out;
}

void ImageShape::copy(const float* image, float* to, float outside) const {
  std::fill_n(to, padded(), outside);
  for (int64_t y = 0; y < height; ++y, image += width) {
    float* line = to + (y + above) * row();
    if (stride_x == 1) {
      std::memcpy(line + left, image, static_cast<size_t>(width) * sizeof(float));
      continue;
    }
    int64_t phase = left % stride_x, at = left / stride_x;
    for (int64_t x = 0; x < width; ++x) {
      line[phase * part + at] = image[x];
      if (++phase == stride_x) phase = 0, ++at;
    }
  }
}

std::optional<ImageShape> image_shape(const Windows& w) {
  if (w.rank() < 1 || w.rank() > 2 || far_from_image(w)) return std::nullopt;
  const auto y_of = [&](const std::vector<int64_t>& v, int64_t one) { return w.rank() == 1 ? one : v[0]; };
  ImageShape s;
  s.height = y_of(w.in, 1), s.width = w.in.back(), s.above = y_of(w.begin, 0), s.left = w.begin.back();
  s.out_height = y_of(w.out, 1), s.out_width = w.out.back(), s.stride_y = y_of(w.strides, 1),
  s.stride_x = w.strides.back(), s.kernel_y = y_of(w.kernel, 1), s.kernel_x = w.kernel.back(),
  s.step_y = y_of(w.dilations, 1), s.step_x = w.dilations.back();
  if (s.above < 0 || s.left < 0 || s.out_height < 1 || s.out_width < 1) return std::nullopt;
  s.padded_height = std::max(s.above + s.height, (s.out_height - 1) * s.stride_y + (s.kernel_y - 1) * s.step_y + 1);
  const int64_t padded_width =
      std::max(s.left + s.width, (s.out_width - 1) * s.stride_x + (s.kernel_x - 1) * s.step_x + 1);
  s.part = (padded_width + s.stride_x - 1) / s.stride_x;
  if (s.kernel_y == 1 && s.kernel_x == 1 && s.stride_y == 1 && !s.is_copied()) {  // all pixels are one row
    s.out_width *= s.out_height, s.width *= s.height, s.part = s.width;
    s.out_height = s.height = s.padded_height = 1;
  }
  return s;
}

Floats::Floats(const Tensor& t) : keeps_(t) {
  const auto bytes = keeps_.bytes().span();
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) == 0) {
    there_ = reinterpret_cast<const float*>(bytes.data());
    return;
  }
  copy_.resize(bytes.size() / sizeof(float));
  std::memcpy(copy_.data(), bytes.data(), bytes.size());
}

}  // namespace cameo::engine
