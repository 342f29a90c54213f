// Numbers as small integers with a scale, and maybe a zero point, for every block of neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/dtype.h"
#include "quant/layer.h"

namespace cameo::quant {

struct BlockFormat {
  int bits = 4;  // 2, 4 or 8
  int64_t block = 32;
  bool symmetric = true;  // the zero point is the middle of the levels

  int levels_per_byte() const { return 8 / bits; }
  uint8_t middle() const { return static_cast<uint8_t>(1 << (bits - 1)); }
  uint8_t last() const { return static_cast<uint8_t>((1 << bits) - 1); }
  int64_t blocks(int64_t depth) const { return (depth + block - 1) / block; }
};

// number = (level - zero) * scale; levels are 0 ... last().
// Why 2-bit numbers for DequantizeLinear stay as they are: ONNX Runtime 1.31 mixes neighbours up when it fuses the
// product.
inline constexpr const char* rows_end_inside = "rows of 2-bit numbers would end inside of a byte";

struct BlockScale {
  float scale = 0;
  uint8_t zero = 0;
};

// As onnxruntime's quantizer takes it: the end of the range that is further from 0 becomes level 0 where levels are
// symmetric, else the whole range with 0 in it is covered.
BlockScale round_to_nearest(std::span<const float> numbers, const BlockFormat& format);

// The scale with the least error, of some that cover a part of the range, each number counting as much as `weights`
// says (empty: all alike). Never worse than round_to_nearest.
BlockScale searched(std::span<const float> numbers, std::span<const float> weights, const BlockFormat& format);

void to_levels(std::span<const float> numbers, const BlockScale& scale, const BlockFormat& format, uint8_t* levels);
// The sum of squared differences, weighted.
double block_error(std::span<const float> numbers, std::span<const float> weights, const BlockScale& scale,
                   const BlockFormat& format);

enum class BlockMethod : uint8_t { rtn, search };
// Scales are rounded to `stored`, the type that they are written in, before levels are chosen.
BlockScale block_scale(std::span<const float> numbers, std::span<const float> weights, const BlockFormat& format,
                       BlockMethod method, DType stored);

// Of one output of a product: its numbers along the depth, block after block.
struct QuantizedRow {
  std::vector<uint8_t> levels;     // blocks * block; behind the last number 0
  std::vector<BlockScale> scales;  // one per block
};

// Levels packed low bits first. The bits behind the last level of a row repeat those of the byte before, and unused
// zero points are the middle: onnxruntime's quantizer leaves them so, and files are compared byte for byte.
void pack_levels(std::span<const uint8_t> levels, int64_t depth, const BlockFormat& format, std::byte* out);
void pack_zeros(std::span<const BlockScale> scales, const BlockFormat& format, std::byte* out);

}  // namespace cameo::quant
