#include "ops/tensor/axis_maps.h"

#include <algorithm>
#include <numeric>

#include "ops/eval.h"
#include "support/budget.h"

namespace cameo::ops {

std::vector<int64_t> checked_axes(std::span<const int64_t> axes, int64_t rank) {
  std::vector<int64_t> out;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (const int64_t a : axes) {
    out.push_back(Eval::axis(a, rank));
    if (seen[static_cast<size_t>(out.back())]) Eval::fail("eval.axis", cat("axis ", out.back(), " is given twice"));
    seen[static_cast<size_t>(out.back())] = true;
  }
  return out;
}

AxisMap identity_map(int64_t size) {
  AxisMap map(static_cast<size_t>(size));
  std::iota(map.begin(), map.end(), 0);
  return map;
}

Tensor take_by_axes(const Tensor& x, const std::vector<AxisMap>& maps, const Tensor* fill) {
  std::vector<int64_t> shape, places{0};
  for (const AxisMap& map : maps) shape.push_back(static_cast<int64_t>(map.size()));
  element_count(shape);  // throws where they are too many
  for (size_t axis = 0; axis < maps.size(); ++axis) {
    std::vector<int64_t> next(places.size() * maps[axis].size());
    auto out = next.begin();
    for (const int64_t p : places) {
      checkpoint();
      if (p < 0) out = std::fill_n(out, maps[axis].size(), -1);
      else
        for (const int64_t i : maps[axis]) *out++ = i < 0 ? -1 : p * x.shape()[axis] + i;
    }
    places = std::move(next);
  }
  return take(x, shape, places, fill);
}

}  // namespace cameo::ops
