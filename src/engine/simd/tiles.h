// Products of matrices of floats in tiles that fill the processor's registers: a few rows of one operand times a panel
// of columns of the other, both packed. Written once for every vector width.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

// Two registers of sums per row, two of columns, one number: with six rows sixteen registers. WebAssembly has no fused
// multiplication and addition, so a product takes one more, and browsers keep one for themselves; a sixth row there
// would cost half of the speed.
#if defined(__wasm__)
inline constexpr int64_t tile_rows = 5;
#else
inline constexpr int64_t tile_rows = 6;
#endif
// Products of a sum that are added up before the next ones are read: a tile's part of both operands stays in the
// fastest cache.
inline constexpr int64_t tile_depth = 256;
int64_t tile_columns();  // of a panel, by what the processor has: 8, 16 or 32

inline int64_t tiles_of(int64_t rows) { return (rows + tile_rows - 1) / tile_rows; }
inline int64_t panels_of(int64_t columns) { return (columns + tile_columns() - 1) / tile_columns(); }

// c[i, j] = sum over k of a[i, k] * b[k, j], added to what is there where `adds`. `a` has tile_rows numbers for each
// k, the panel tile_columns(); at most that many rows and columns of c are written.
void tile_product(const float* a, const float* panel, int64_t depth, float* c, int64_t c_row, int64_t rows,
                  int64_t columns, bool adds);

// Rows `row_step` apart, as tile_product reads them; missing ones are 0.
void pack_tile(const float* a, int64_t row_step, int64_t rows, int64_t depth, float* out);
// Columns of a matrix whose rows are `row_step` and whose columns are `column_step` apart; missing ones are 0.
void pack_panel(const float* b, int64_t row_step, int64_t column_step, int64_t depth, int64_t columns, float* out);

}  // namespace cameo::engine
