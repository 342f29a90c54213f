// A tensor seen along one axis: `outer` blocks of `size` rows of `inner` elements.
#pragma once

#include <cstdint>
#include <span>

namespace cameo {

struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;

  // Precondition: 0 <= axis < shape.size().
  AxisView(std::span<const int64_t> shape, int64_t axis) {
    for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
      (i < axis ? outer : i == axis ? size : inner) *= shape[static_cast<size_t>(i)];
  }
  // Calls f(first element, distance to the next) for every line along the axis.
  template <class F>
  void each_line(F f) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) f(o * size * inner + i, inner);
  }
};

}  // namespace cameo
