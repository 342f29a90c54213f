#include "engine/simd/window_sums.h"

#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

// Unsigned, so that sums that 32 bits do not hold wrap as the kernels' do.
using Sum = uint32_t;

// For every pixel and group, its channels less the zero point, added up.
template <class T>
inline void pixel_sums(const T* x, Sum* y, int64_t count, int64_t channels, int32_t zero) {
  const auto all = static_cast<Sum>(zero) * static_cast<Sum>(channels);
  if (channels == 1) {
    for (int64_t i = 0; i < count; ++i) y[i] = static_cast<Sum>(static_cast<int32_t>(x[i])) - all;
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    Sum s = 0;
    for (int64_t c = 0; c < channels; ++c) s += static_cast<Sum>(static_cast<int32_t>(x[i * channels + c]));
    y[i] = s - all;
  }
}
CAMEO_SIMD void pixel_sums_row(const uint8_t* x, Sum* y, int64_t count, int64_t channels, int32_t zero) {
  pixel_sums(x, y, count, channels, zero);
}
CAMEO_SIMD void pixel_sums_row(const int8_t* x, Sum* y, int64_t count, int64_t channels, int32_t zero) {
  pixel_sums(x, y, count, channels, zero);
}

// y += x, pixels of x `stride` apart.
CAMEO_SIMD void add_pixels(Sum* y, const Sum* x, int64_t count, int64_t groups, int64_t stride) {
  if (stride == 1) {
    for (int64_t i = 0; i < count * groups; ++i) y[i] += x[i];
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    for (int64_t g = 0; g < groups; ++g) y[i * groups + g] += x[i * stride * groups + g];
}

// sums += the window's sum times what is left of the channel's weights.
CAMEO_SIMD void add_rest(Sum* sums, const Sum* windows, const Sum* rest, int64_t count, int64_t groups,
                         int64_t per_group) {
  if (per_group == 1) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t g = 0; g < groups; ++g) sums[i * groups + g] += windows[i * groups + g] * rest[g];
    return;
  }
  for (int64_t i = 0; i < count * groups; ++i)
    for (int64_t c = 0; c < per_group; ++c) sums[i * per_group + c] += windows[i] * rest[i % groups * per_group + c];
}

void sum_pixels(const WindowSize& s, bool is_signed, const std::byte* image, int32_t zero, int64_t first, int64_t last,
                Sum* out) {
  const int64_t from = first * s.width * s.in_channels, count = (last - first) * s.width * s.groups;
  const int64_t channels = s.in_channels / s.groups;
  Sum* to = out + first * s.width * s.groups;
  if (is_signed) pixel_sums_row(reinterpret_cast<const int8_t*>(image) + from, to, count, channels, zero);
  else pixel_sums_row(reinterpret_cast<const uint8_t*>(image) + from, to, count, channels, zero);
}

// The windows of one row of the output. What lies outside of the image counts nothing.
void sum_windows(const WindowSize& s, const Sum* pixels, int64_t row, std::vector<Sum>& out) {
  std::fill(out.begin(), out.end(), 0);
  for (int64_t ky = 0; ky < s.kernel_y; ++ky) {
    const int64_t y = row * s.stride_y + ky * s.step_y - s.above;
    if (y < 0 || y >= s.height) continue;
    for (int64_t kx = 0; kx < s.kernel_x; ++kx) {
      const int64_t from = kx * s.step_x - s.left;  // of the first window
      const int64_t first = from >= 0 ? 0 : (-from + s.stride_x - 1) / s.stride_x;
      const int64_t last = from >= s.width ? 0 : std::min(s.out_width, (s.width - from + s.stride_x - 1) / s.stride_x);
      if (first < last)
        add_pixels(out.data() + first * s.groups, pixels + (y * s.width + from + first * s.stride_x) * s.groups,
                   last - first, s.groups, s.stride_x);
    }
  }
}

void correct_rows(const WindowSize& s, const Sum* pixels, const Sum* rest, int64_t first, int64_t last, Sum* sums) {
  std::vector<Sum> windows(static_cast<size_t>(s.out_width * s.groups));
  for (int64_t y = first; y < last; ++y) {
    sum_windows(s, pixels, y, windows);
    add_rest(sums + y * s.out_width * s.out_channels, windows.data(), rest, s.out_width, s.groups,
             s.out_channels / s.groups);
  }
}

class WindowSumsKernel : public Kernel {
 public:
  WindowSumsKernel(const WindowSize& s, bool is_signed, std::vector<Sum> rest)
      : s_(s), signed_(is_signed), rest_(std::move(rest)) {
    accumulates = 0;
    scratch_bytes = floats(s_.height * s_.width * s_.groups);
  }
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const uint64_t sums = floats(s_.images * s_.out_height * s_.out_width * s_.out_channels);
    return {{sums, static_cast<uint64_t>(s_.images * s_.height * s_.width * s_.in_channels), sizeof(int32_t)}, {sums}};
  }

  void run(const Buffers& b) const override {
    auto* pixels = reinterpret_cast<Sum*>(b.scratch);
    for (int64_t image = 0; image < s_.images; ++image) {
      const std::byte* x = b.in[1] + image * s_.height * s_.width * s_.in_channels;
      Sum* sums = b.output<Sum>(0) + image * s_.out_height * s_.out_width * s_.out_channels;
      parallel(s_.height, rows_at_once(s_.width * s_.in_channels), [&](int64_t first, int64_t last) {
        sum_pixels(s_, signed_, x, *b.input<int32_t>(2), first, last, pixels);
      });
      parallel(s_.out_height, rows_at_once(s_.out_width * s_.out_channels),
               [&](int64_t first, int64_t last) { correct_rows(s_, pixels, rest_.data(), first, last, sums); });
    }
  }

 private:
  static int64_t rows_at_once(int64_t row) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, row)); }

  WindowSize s_;
  bool signed_;
  std::vector<Sum> rest_;
};

class WideZeroKernel : public Kernel {
 public:
  explicit WideZeroKernel(bool is_signed) : signed_(is_signed) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{1}, {sizeof(int32_t)}}; }
  void run(const Buffers& b) const override {
    *b.output<int32_t>(0) = signed_ ? int32_t{*b.input<int8_t>(0)} : int32_t{*b.input<uint8_t>(0)};
  }

 private:
  bool signed_;
};

}  // namespace

std::unique_ptr<Kernel> make_window_sums(const WindowSize& s, bool is_signed, std::vector<int32_t> rest) {
  return std::make_unique<WindowSumsKernel>(s, is_signed, std::vector<Sum>(rest.begin(), rest.end()));
}

void add_window_rest(const WindowSize& s, bool is_signed, const std::byte* image, int32_t zero,
                     const std::vector<int32_t>& rest, int32_t* sums, int32_t* scratch) {
  auto* pixels = reinterpret_cast<Sum*>(scratch);
  sum_pixels(s, is_signed, image, zero, 0, s.height, pixels);
  correct_rows(s, pixels, reinterpret_cast<const Sum*>(rest.data()), 0, s.out_height, reinterpret_cast<Sum*>(sums));
}

std::unique_ptr<Kernel> make_wide_zero(bool is_signed) { return std::make_unique<WideZeroKernel>(is_signed); }

}  // namespace cameo::engine
