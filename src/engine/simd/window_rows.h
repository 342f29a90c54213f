// The taps of neighbouring windows, side by side (engine/simd/image.h): what convolutions and pools do with them.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

// y[i] = start + sum over t of weights[t] * x[taps[t] + i]. Up to read_behind floats behind the last one are read.
void weighted_windows(const float* x, const int64_t* taps, const float* weights, int64_t count, float start, float* y,
                      int64_t n);
// The largest number of each window, NaN where it holds one.
void largest_of_windows(const float* x, const int64_t* taps, int64_t count, float* y, int64_t n);
void sum_of_windows(const float* x, const int64_t* taps, int64_t count, float* y, int64_t n);

// out[k * row + i] = x[taps[k] + i]
void copy_taps(const float* x, const int64_t* taps, int64_t count, int64_t n, float* out, int64_t row);

}  // namespace cameo::engine
