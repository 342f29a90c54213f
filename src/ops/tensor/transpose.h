// Data in another order of axes.
#pragma once

#include <cstdint>
#include <span>

#include "ir/tensor.h"

namespace cameo::ops {

Tensor transposed(const Tensor& x, std::span<const int64_t> perm);

}  // namespace cameo::ops
