// What reductions share: which axes go, the shape that stays, and the walk over what is folded into one element.
#pragma once

#include <optional>

#include "ops/eval.h"
#include "ops/infer.h"

namespace cameo::ops {

// The shape without `axes` (all in [0, rank)), or with 1 in their places.
Shape reduced_shape(const Shape& shape, std::span<const int64_t> axes, bool keepdims);

// For every element of the result, the elements of the source at kept[i] + folded[j].
struct FoldedAxes {
  std::vector<int64_t> shape;  // of the result
  std::vector<int64_t> kept, folded;
  FoldedAxes(std::span<const int64_t> source, std::span<const int64_t> axes, bool keepdims);
};

// The elements folded into one.
template <class C>
struct Line {
  const C* first;
  std::span<const int64_t> offsets;
  int64_t size() const { return static_cast<int64_t>(offsets.size()); }
  C operator[](int64_t j) const { return first[offsets[static_cast<size_t>(j)]]; }
};

}  // namespace cameo::ops
