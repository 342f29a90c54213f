// MatMulNBits whose attribute allows data of 8 bits (accuracy_level 4): rows of the left matrix as signed bytes with a
// scale for each block, and products of bytes with AVX-512 VNNI.
#pragma once

#include <vector>

#include "engine/simd/blocked_rows.h"

namespace cameo::engine {

// A row of numbers as bytes: x[i] is about bytes[.] * scales[i / block]. Runs of `run` codes come one after the other,
// each as planes in the order in which codes come out of their bytes.
struct RoundedRow {
  int8_t* bytes;  // rounded_size() of them
  float* scales;  // per block
  float* sums;    // per block: of its bytes
};
int64_t rounded_size(const BlockedSize& s, int64_t run);
void round_row(const BlockedSize& s, const float* x, int64_t run, const RoundedRow& to);

// y[c] = the rounded row, whose runs are of byte_run codes, times row c of weights. `zeros` of a BlockedRow are less
// the middle of the codes, as everywhere. `scratch`: four times byte_dot_room() numbers, zeros before the first call.
// Precondition: has_vnni(), 1 <= count <= 4.
inline constexpr int64_t byte_run = 64;
inline int64_t byte_dot_room(const BlockedSize& s) { return s.blocks + 32; }
void byte_dots(const BlockedSize& s, const BlockedRow* rows, int64_t count, const RoundedRow& x, float* scratch,
               float* y);

// Thirty-two rows of weights as a panel of columns: for each four codes of a block in turn, four bytes of each column;
// and, block by block, the columns' scales and zero points, the middle of the codes included.
inline constexpr int64_t byte_panel_width = 32;
struct BytePanel {
  std::vector<uint8_t> codes, turned;
  std::vector<float> scales, zeros;
};
BytePanel make_byte_panel(const BlockedSize& s);
// Precondition: has_vnni(), 1 <= count <= 32.
void fill_byte_panel(const BlockedSize& s, const BlockedRow* rows, int64_t count, BytePanel& panel);
// y[m][columns] of rows whose runs are panel_run() long: row i has its bytes at i * rounded_size(), its scales and sums
// at i * blocks. Precondition: has_vnni(), columns <= 32.
int64_t panel_run(const BlockedSize& s);
void multiply_byte_panel(const BlockedSize& s, const RoundedRow& rows, int64_t m, const BytePanel& panel,
                         int64_t columns, float* y, int64_t y_row);

}  // namespace cameo::engine
