// Kernels that treat each axis separately: for every output place along an axis, the input place it comes from.
#pragma once

#include <span>
#include <vector>

#include "kernels/move.h"

namespace cameo::ops {

std::vector<int64_t> checked_axes(std::span<const int64_t> axes,
                                  int64_t rank);  // normalised; duplicates throw "eval.axis"

using AxisMap = std::vector<int64_t>;  // one entry per output place; -1: filled

AxisMap identity_map(int64_t size);
// The output's size along each axis is that of its map. `fill` as for `take`.
Tensor take_by_axes(const Tensor& x, const std::vector<AxisMap>& maps, const Tensor* fill = nullptr);

}  // namespace cameo::ops
