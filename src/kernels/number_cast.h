// From one type of numbers to another without undefined cases.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/layers.h"

namespace cameo::kernels {

// Like static_cast, but defined for every float: beyond the range of To it saturates, NaN gives 0. To uint8_t: whether
// it is not 0.
template <class To, class From>
To cast_number(From v) {
  if constexpr (std::is_same_v<To, From>) return v;
  else if constexpr (std::is_same_v<To, uint8_t>) return v != From{};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(v)) return 0;
    if (v >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if constexpr (std::is_unsigned_v<To>) {
      // Negative numbers wrap as the signed conversion does.
      if (v < 0)
        return v <= static_cast<From>(std::numeric_limits<int64_t>::min())
                   ? static_cast<To>(std::numeric_limits<int64_t>::min())
                   : static_cast<To>(static_cast<int64_t>(v));
    } else if (v <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(v);
  } else return static_cast<To>(v);
}

}  // namespace cameo::kernels
