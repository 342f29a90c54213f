// Products of small integers, added up exactly in 32 bits: numbers of 16 bits, so that bytes less their zero points fit
// and two products fit one sum. For processors that have no instruction for bytes.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

inline constexpr int64_t panel_columns = 16;

// Numbers per panel of `pairs` pairs: for every pair, its two numbers of each column.
inline int64_t panel_size(int64_t pairs) { return pairs * 2 * panel_columns; }

// sums[i, j] = sum over k of a[i, k] * column j's k; rows of `a` are 2 * pairs long (the last number 0 where depth is
// odd) and `a_row` apart, rows of the sums `row` apart. All 16 columns are written.
void panel_product(const int16_t* a, int64_t a_row, int64_t rows, const int16_t* panel, int64_t pairs, int32_t* sums,
                   int64_t row);

// Numbers `step` apart of two rows, interleaved.
void two_taps(const int16_t* a, const int16_t* b, int16_t* y, int64_t n, int64_t step);
// y = x - zero, in 16 bits.
void centre_row(const uint8_t* x, int16_t* y, int64_t n, int32_t zero);
void centre_row(const int8_t* x, int16_t* y, int64_t n, int32_t zero);

}  // namespace cameo::engine
