// Convolutions of a few rows of the image at a time, so that what is done to the sums afterwards finds them in cache.
#pragma once

#include <functional>

#include "engine/onednn/conv.h"

namespace cameo::engine {

// Strips of one kind differ in their place only.
struct Strip {
  size_t kind;
  int64_t in, out, count;  // offsets and length of the result in elements
};

// Equal numbers of strips for all threads, of about the size that fits in cache. `make` is called once for each kind,
// with the convolution of such a strip. False where it says so, where a strip would read nothing, or oneDNN cannot.
bool cut_into_strips(const ConvShape& s, int64_t threads, const std::function<bool(const ConvShape& part)>& make,
                     std::vector<Strip>& strips);
// Images whose channels lie together.
Md channels_last(const Dims& d, DType t = DType::f32);

}  // namespace cameo::engine
