// Means and variances that normalisations share.
#pragma once

#include <cmath>
#include <span>

#include "ops/eval.h"
#include "ops/nn/window.h"

namespace cameo::ops {

// Sizes as [batch, channels, rest].
struct ChannelPlanes {
  int64_t batch, channels, plane;
};

inline ChannelPlanes channel_planes(Eval& k, const Tensor& x) {
  if (x.rank() < 1) k.fail("eval.shape", "the input is a scalar");
  if (x.rank() == 1) return {x.shape()[0], 1, 1};
  return {x.shape()[0], x.shape()[1], product(spatial_of(x.shape()))};
}

inline DType stash_dtype(int64_t stash_type) {
  const auto t = dtype_from_number(stash_type);
  return t && is_float(*t) ? *t : DType::f32;
}

struct Moments {
  double mean = 0, inverse = 0;
};

template <class C>
Moments moments_of(std::span<const C> row, double epsilon, bool centred) {
  Moments m;
  double sum = 0;
  const auto n = static_cast<double>(row.size());
  if (centred) {
    for (const C e : row) m.mean += static_cast<double>(e);
    m.mean /= n;
  }
  for (const C e : row) sum += (static_cast<double>(e) - m.mean) * (static_cast<double>(e) - m.mean);
  m.inverse = 1 / std::sqrt(sum / n + epsilon);
  return m;
}

}  // namespace cameo::ops
