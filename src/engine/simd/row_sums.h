// Sums, extremes and normalisation of one run of floats.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

float sum_row(const float* x, int64_t n);
float max_row(const float* x, int64_t n);  // NaN where there is one
float min_row(const float* x, int64_t n);
bool is_finite_row(const float* x, int64_t n);
double sum_row_exactly(const float* x, int64_t n, int64_t step = 1);  // in double: slow, for sums that overflow
// What a run is normalised with: (x - mean) * factor, where factor is one over the root of the mean square.
struct RowScale {
  float mean, factor;
};
RowScale scale_of_row(const float* x, int64_t n, float epsilon, bool centred);  // not centred: mean is 0
// y = (x - mean) * factor * scale + shift; scale and shift may be null.
void normalize_row(const float* x, float* y, int64_t n, float mean, float factor, const float* scale,
                   const float* shift);
// The same with one scale and shift for the whole row.
void normalize_row_by(const float* x, float* y, int64_t n, float mean, float factor, float shift);
// y = exp(x * factor - top), whose sum it gives.
float exp_row(const float* x, float* y, int64_t n, float factor, float top);
// x += y and similar, element by element.
void add_to_row(float* x, const float* y, int64_t n);
void max_to_row(float* x, const float* y, int64_t n);
void min_to_row(float* x, const float* y, int64_t n);

}  // namespace cameo::engine
