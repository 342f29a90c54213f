// Convolutions of a few rows of the image at a time, so that what is done to the sums afterwards finds them in cache.
#pragma once

#include "engine/onednn/conv.h"

namespace cameo::engine {

// Rows of the output, and what they need of the input.
struct Rows {
  int64_t out_first = 0, out_count = 0, in_first = 0, in_count = 0, above = 0,
          below = 0;  // above, below: rows of padding
};

// Equal numbers of strips for all threads, of about the size that fits in cache.
std::vector<Rows> cut_into_strips(const ConvShape& s, int64_t threads);
ConvShape strip_shape(const ConvShape& s, const Rows& r);  // of one image
// Images whose channels lie together.
Md channels_last(const Dims& d, DType t = DType::f32);

}  // namespace cameo::engine
