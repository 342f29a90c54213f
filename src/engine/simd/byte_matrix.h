// Rows of bytes times a constant matrix of signed bytes, as exact sums in 32 bits: with AVX-512 VNNI where there is
// that, else in 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/simd/vnni_rows.h"

namespace cameo::engine {

class ByteMatrix {
 public:
  ByteMatrix(int64_t depth, int64_t columns, bool vnni = has_vnni());

  int64_t stride() const { return stride_; }             // of a row of sums
  int64_t row_bytes() const { return row_; }             // of a row: the depth, and zeros behind it
  int64_t panels() const;                                // parts of the columns that can be computed by themselves
  uint64_t bytes() const;                                // of the packed matrix
  void pack(const int8_t* levels, std::byte* to) const;  // levels [depth, columns]
  // sums[i * stride + j] = (row i - zero) times column j, for the columns of panels first to last. Precondition: count
  // <= vnni_rows_max; the sums have room for one row, or for vnni_rows_max.
  void products(const uint8_t* rows, int64_t count, int32_t zero, const std::byte* packed, int64_t first, int64_t last,
                int32_t* sums) const;

 private:
  const int64_t depth_, columns_;
  const bool vnni_;
  int64_t row_ = 0, stride_ = 0;
  std::vector<VnniPanel> panels_;
};

}  // namespace cameo::engine
