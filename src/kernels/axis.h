// A tensor seen along one axis: `outer` blocks of `size` rows of `inner` elements.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "support/layers.h"

namespace cameo::kernels {

struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;

  // Precondition: 0 <= axis < shape.size(). A tensor without elements has no lines, however long its other axes are.
  AxisView(std::span<const int64_t> shape, int64_t axis) : size(shape[static_cast<size_t>(axis)]) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
      outer = inner = 0;
      return;
    }
    size = 1;
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

}  // namespace cameo::kernels
