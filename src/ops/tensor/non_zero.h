// Where a tensor is not zero: NonZero and Compress share it.
#pragma once

#include <vector>

#include "ops/eval.h"

namespace cameo::ops {

// The numbers of the elements that are not zero (strings: not empty).
inline std::vector<int64_t> nonzero_places(const Tensor& t) {
  std::vector<int64_t> out;
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.count(); ++i)
      if (!t.strings()[static_cast<size_t>(i)].empty()) out.push_back(i);
    return out;
  }
  with_carrier(t.dtype(), [&](auto zero) {
    const Loaded<decltype(zero)> x(t);
    for (int64_t i = 0; i < x.size(); ++i)
      if (x[i] != zero) out.push_back(i);
  });
  return out;
}

}  // namespace cameo::ops
