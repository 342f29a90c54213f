// Kernels that treat each axis alone: for every output place along an axis, the input place it comes from.
#pragma once

#include <vector>

#include "kernels/move.h"

namespace cameo {

using AxisMap = std::vector<int64_t>;  // one entry per output place; -1: filled

AxisMap identity_map(int64_t size);
// The output's size along each axis is that of its map. `fill` as for `take`.
Tensor take_by_axes(const Tensor& x, const std::vector<AxisMap>& maps, const Tensor* fill = nullptr);

}  // namespace cameo
