// What calibration asks of runs of numbers, in one pass over each.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

// Of all numbers, NaN excepted from the extremes: an infinity among them shows there, a NaN in the sums.
struct RowMoments {
  float low, high;  // of no numbers +inf and -inf
  float sum, square;
};
// Sums in f32, in many lanes: runs of some thousands keep six digits.
RowMoments moments_of_row(const float* x, int64_t n);
// The same without sums.
void extremes_of_row(const float* x, int64_t n, float* low, float* high);
// Of every place of a row: x, its square and its extremes, NaN excepted from these.
void add_moments_row(const float* x, float* sum, float* square, float* low, float* high, int64_t n);
// Of each number the place among bins with log-spaced bounds, by the leading bits of its magnitude: 0 below the first,
// then those of positive numbers, then those of negative ones, then what is not finite.
struct LogBins {
  uint32_t shift, first, last, each;  // magnitudes' bits >> shift; the least and the largest; how many of a sign
};
void bins_of_row(const float* x, uint16_t* place, int64_t n, LogBins bins);
// The sum of factor * log(x). Precondition: every x is a positive normal number.
double sum_of_logs_row(const double* factor, const double* x, int64_t n);
// The sum of factor * d * d, where d is what rounding x * inverse to the nearest of the levels adds to it.
double rounding_errors_row(const float* x, const float* factor, int64_t n, float inverse, float least, float most);
// sums += (a + b) * weight
void add_counts_row(uint64_t* sums, const uint16_t* a, const uint16_t* b, int64_t n, uint32_t weight);

}  // namespace cameo::engine
