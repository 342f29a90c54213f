// Weights of 2, 4 or 8 bits with a scale for each block of a row, low bits first: read as numbers, or multiplied where
// they lie.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

struct BlockedRow {
  const uint8_t* codes;
  const float* scales;
  const float* zeros;  // per block, less the middle of the codes; null where all are 0
};
struct BlockedSize {
  int64_t depth, blocks, block, bits;
  int64_t block_bytes() const { return block * bits / 8; }
  int64_t row_bytes() const { return blocks * block_bytes(); }
  float middle() const { return static_cast<float>(1 << (bits - 1)); }
};

// y[i] = (code - middle - zero) * scale. Writes blocks * block numbers.
void read_blocked_row(const BlockedSize& s, const BlockedRow& row, float* y);
// Packed zero points as numbers less the middle of the codes. Writes up to 31 more than there are.
void read_zero_points(const uint8_t* packed, int64_t bits, int64_t bytes, float* y);
float dot_row(const float* x, const float* y, int64_t n);

// The product of one row of numbers by up to four rows of weights, in registers.
bool has_blocked_dots();  // AVX-512 as has_vnni()
inline constexpr int64_t blocked_dots_at_once = 4;
// How many numbers arrange_for_dots writes.
int64_t arranged_size(const BlockedSize& s);
// The numbers in the order in which codes come out of their bytes; sums per block for zero points.
void arrange_for_dots(const BlockedSize& s, const float* x, float* arranged, float* block_sums);
// Precondition: has_blocked_dots(), 1 <= count <= 4.
void blocked_dots(const BlockedSize& s, const BlockedRow* rows, int64_t count, const float* arranged,
                  const float* block_sums, float* y);

// Products of many rows by a panel of 64 columns, which lie as w[k][64].
inline constexpr int64_t panel_width = 64;
// The row's numbers in the order of arrange_for_dots. Precondition: has_blocked_dots().
void read_arranged_row(const BlockedSize& s, const BlockedRow& row, float* y);
// panel[k][64] from w[64][padded], precondition: has_blocked_dots(), k % 16 == 0.
void turn_panel(const float* w, int64_t k, float* panel);
// y[m][columns], or added to it. Precondition: has_blocked_dots(), columns <= 64.
struct PanelProduct {
  int64_t m, k, columns;
  const float* x;
  int64_t x_row;
  const float* panel;
  float* y;
  int64_t y_row;
  bool adds;
};
void multiply_panel(const PanelProduct& p);

}  // namespace cameo::engine
