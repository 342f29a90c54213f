// Products of bytes with AVX-512 VNNI: exact sums in 32 bits.
#pragma once

#include <cstdint>
#include <span>

#include "support/layers.h"

namespace cameo::engine {

bool has_vnni();  // whether the processor has what this file needs

inline constexpr int64_t vnni_lanes = 16;     // columns of a register
inline constexpr int64_t vnni_rows_max = 48;  // rows of one call

// Columns come in panels of one to four registers. A panel's weights: for each step of four bytes of a row, four
// bytes of each of its columns.
struct VnniPanel {
  int64_t first = 0, registers = 0;  // column, width
  int64_t offset = 0;                // of its weights, in bytes
};

// Where the bytes of a row lie that a sum is made of: runs of `steps` times four bytes.
struct VnniRuns {
  std::span<const int64_t> offsets;  // from the row's first byte
  int64_t steps = 0;
};

// sums[i * stride + j] = start[j] + the row's unsigned bytes times the signed ones of column j, for `count` rows and
// the panel's columns. Precondition: has_vnni(), count <= vnni_rows_max; `rows` has vnni_rows_max pointers.
void vnni_products(const uint8_t* const* rows, int64_t count, const VnniRuns& runs, const VnniPanel& panel,
                   const int8_t* weights, const int32_t* start, int32_t* sums, int64_t stride);

// A window with a weight of its own for each channel: the taps' offsets from its first byte, and four taps' weights of
// 64 channels at a time, in the order of channel_place.
struct VnniChannels {
  std::span<const int64_t> offsets;
  int64_t channels = 0, stride = 0;  // of a row of sums: a multiple of 64
  const int8_t* weights = nullptr;   // [taps in fours][stride][4]
  const int32_t* zeros = nullptr;    // of the weights, `stride` of them; null where all are 0
};
// Where a channel's four bytes lie among those of its 64: registers interleave quarters.
inline int64_t channel_place(int64_t c) { return c / 64 * 64 + c % 16 / 4 * 16 + c % 64 / 16 * 4 + c % 4; }
// sums[i * stride + c] = start[c] + the sum over the taps, less zeros. Precondition: has_vnni(); `start` can be read up
// to `stride`.
void vnni_channels(const uint8_t* const* rows, int64_t count, const VnniChannels& c, const int32_t* start,
                   int32_t* sums);

// y = round((sum + bias) * scale) + zero, kept inside the type; no bias where the pointer is null. Precondition:
// has_vnni().
void vnni_requantize(const int32_t* sums, const int32_t* bias, const float* scale, uint8_t* y, int64_t n, float zero);
void vnni_requantize(const int32_t* sums, const int32_t* bias, const float* scale, int8_t* y, int64_t n, float zero);

// Rows of sums that lie `stride` apart to rows of n bytes. Precondition: sums and scales can be read up to a multiple
// of 64 of each row.
void vnni_requantize_rows(const int32_t* sums, int64_t stride, int64_t rows, const float* scale, uint8_t* y, int64_t n,
                          float zero);
void vnni_requantize_rows(const int32_t* sums, int64_t stride, int64_t rows, const float* scale, int8_t* y, int64_t n,
                          float zero);

// y[j * y_row + i] = x[i * x_row + j] of 32-bit words. `past_cache`: whole lines go to memory, for results that no
// cache would hold. Precondition: has_vnni().
void vnni_transpose(const int32_t* x, int64_t x_row, int32_t* y, int64_t y_row, int64_t rows, int64_t columns,
                    bool past_cache = false);

}  // namespace cameo::engine
