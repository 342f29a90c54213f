// Elements of images at computed positions, by Gather: what the expansions of sampling operators share.
#pragma once

#include <vector>

#include "ops/on.h"

namespace cameo::ops {

// One of the elements a sample is made of, along one axis. All are [batch, points]; positions are whole floats.
struct TapValues {
  ValueId position;  // inside the image
  ValueId inside;    // bool; none: always inside. Outside counts as zero
  ValueId weight;    // none: 1
};

class Planes {
 public:
  // `x` is [batch, channels, sizes...]; positions come as floats of type `t`.
  Planes(On& on, ValueId x, DType t);
  size_t axes() const { return sizes_.size(); }
  ValueId size(size_t axis) const { return float_sizes_[axis]; }  // of shape [1]
  // The weighted sum over all combinations of one tap per axis: [batch, points, channels] in x's type.
  ValueId sample(const std::vector<std::vector<TapValues>>& taps);
  // A float position, the element before and the one after it, with linear weights, zero outside.
  std::vector<TapValues> linear_taps(ValueId at, size_t axis);
  // A whole position that may lie outside, where it counts as zero.
  TapValues zero_outside(ValueId position, size_t axis, ValueId weight);

 private:
  ValueId element(const std::vector<TapValues>& tap);

  On& on_;
  DType type_, float_type_;
  ValueId rows_, first_row_;  // [batch * plane, channels]; where each batch begins, [batch, 1]
  std::vector<ValueId> sizes_, float_sizes_;
};

}  // namespace cameo::ops
