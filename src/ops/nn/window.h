// Sliding windows: the arithmetic that convolutions and pools share, on symbolic and on known sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dim.h"
#include "kernels/number_cast.h"
#include "ops/revision.h"

namespace cameo::ops {

// The attributes with their defaults filled in; one entry per spatial axis, `pads` begins first, then ends.
struct WindowAttrs {
  std::string_view auto_pad = "NOTSET";
  std::vector<int64_t> strides, dilations, pads;
  bool ceil_mode = false;
  std::string problem;  // what is wrong with them; empty when nothing is

  bool same() const { return auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER"; }
};
WindowAttrs window_attrs(std::string_view auto_pad, const std::optional<std::vector<int64_t>>& strides,
                         const std::optional<std::vector<int64_t>>& dilations,
                         const std::optional<std::vector<int64_t>>& pads, bool ceil_mode, size_t spatial);

// What is wrong with a kernel of that size on axis `i`; empty when nothing is.
std::string kernel_problem(const WindowAttrs& w, size_t i, int64_t kernel);
// How many windows of a `kernel` fit along axis `i` of that size.
Dim window_count(const WindowAttrs& w, size_t i, Dim size, Dim kernel);
// What a dilated kernel covers.
inline Dim covered(Dim kernel, int64_t dilation) { return (kernel - 1) * dilation + 1; }

// Windows over known sizes. `out` windows, number o covering positions o * stride - begin + k * dilation.
struct Windows {
  std::vector<int64_t> in, out, kernel, strides, dilations, begin, end;
  std::string problem;

  size_t rank() const { return in.size(); }
  int64_t in_count() const;
  int64_t out_count() const;
  int64_t kernel_count() const;
};
Windows make_windows(const WindowAttrs& w, std::vector<int64_t> in, std::vector<int64_t> kernel);

// Positions of one tap k of the kernel: the windows [lo, hi) in which it lies inside the input, per axis, and the flat
// input index that window number 0 would have there.
struct Tap {
  std::vector<int64_t> lo, hi;
  int64_t start = 0;
  bool empty() const;
};
Tap tap_at(const Windows& w, std::span<const int64_t> k);

// The taps of one window that lie inside the input, per axis [lo, hi), with the flat input index of the first.
struct Reach {
  explicit Reach(const Windows& w);
  void at(const Windows& w, std::span<const int64_t> o);  // of window `o`

  std::vector<int64_t> lo, hi;
  int64_t first = 0;
  std::vector<int64_t> tap, step;  // room for a walk, and how far the input's index goes by one tap of an axis
};

// Steps `index` through `shape` in row-major order; false past the end.
bool next_index(std::span<int64_t> index, std::span<const int64_t> shape);
int64_t product(std::span<const int64_t> v);
// The sizes after batch and channel. Precondition: at least two axes.
std::vector<int64_t> spatial_of(std::span<const int64_t> shape);

// Calls f(flat input index) for every position of a window inside the input, in row-major order.
template <class F>
void for_each_position(Reach& r, F&& f) {
  const size_t n = r.lo.size();
  for (size_t i = 0; i < n; ++i)
    if (r.lo[i] >= r.hi[i]) return;
  if (n == 0) return f(r.first);
  r.tap = r.lo;
  const int64_t row = r.hi[n - 1] - r.lo[n - 1], step = r.step[n - 1];
  int64_t at = r.first;
  while (true) {
    for (int64_t k = 0; k < row; ++k) f(at + k * step);
    size_t i = n - 1;
    while (i-- > 0) {
      at += r.step[i];
      if (++r.tap[i] < r.hi[i]) break;
      at -= r.step[i] * (r.hi[i] - r.lo[i]);
      r.tap[i] = r.lo[i];
    }
    if (i == SIZE_MAX) return;
  }
}

// LpPool and GlobalLpPool: before 2 the exponent was a float.
inline constexpr Revision exponent_was_float{2,
                                             [](Upgrade& u) {
                                               if (const auto p = u.take_float("p"))
                                                 u.set("p", kernels::cast_number<int64_t>(*p));
                                             },
                                             [](Downgrade& d) {
                                               if (const auto p = d.take_int("p")) d.set("p", static_cast<float>(*p));
                                             }};

}  // namespace cameo::ops
