#include <algorithm>

#include "ops/reduce/reduce.h"

namespace cameo::ops {

namespace {
bool listed(std::span<const int64_t> axes, size_t i) {
  return std::find(axes.begin(), axes.end(), static_cast<int64_t>(i)) != axes.end();
}
}  // namespace

Shape reduced_shape(const Shape& shape, std::span<const int64_t> axes, bool keepdims) {
  Shape out;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!listed(axes, i)) out.push_back(shape[i]);
    else if (keepdims) out.push_back(1);
  }
  return out;
}

FoldedAxes::FoldedAxes(std::span<const int64_t> source, std::span<const int64_t> axes, bool keepdims) {
  const auto strides = row_major_strides(source);
  std::vector<int64_t> kept_sizes, kept_strides, folded_sizes, folded_strides;
  for (size_t i = 0; i < source.size(); ++i) {
    const bool gone = listed(axes, i);
    (gone ? folded_sizes : kept_sizes).push_back(source[i]);
    (gone ? folded_strides : kept_strides).push_back(strides[i]);
    if (!gone) shape.push_back(source[i]);
    else if (keepdims) shape.push_back(1);
  }
  kept = strided_indices(kept_sizes, kept_strides);
  if (!kept.empty()) folded = strided_indices(folded_sizes, folded_strides);
}

}  // namespace cameo::ops
