// The order of elements: ArgMax, ArgMin and TopK share it.
#pragma once

#include <cmath>
#include <type_traits>

#include "support/layers.h"

namespace cameo::ops {

// NaN counts as larger than every number.
template <class C>
bool below(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) return std::isnan(a) ? false : std::isnan(b) || a < b;
  else return a < b;
}

}  // namespace cameo::ops
