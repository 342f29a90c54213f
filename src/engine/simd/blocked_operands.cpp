#include "engine/simd/blocked_operands.h"

namespace cameo::engine {

Extents BlockedOperands::extents() const {
  const int64_t blocks = columns * weight.blocks;
  Extents e{{floats(rows * weight.depth), static_cast<uint64_t>(columns * weight.row_bytes()), floats(blocks)},
            {floats(rows * columns)}};
  if (zeros == BlockedZeros::packed) e.in.push_back(static_cast<uint64_t>(columns * zero_bytes));
  if (zeros == BlockedZeros::floats) e.in.push_back(floats(blocks));
  if (bias) e.in.push_back(floats(columns));
  return e;
}

BlockedRow BlockedOperands::row(const Buffers& b, int64_t n, float* to) const {
  const BlockedSize& w = weight;
  const BlockedRow out{b.input<uint8_t>(1) + n * w.row_bytes(), b.input<float>(2) + n * w.blocks,
                       zeros == BlockedZeros::none ? nullptr : to};
  if (zeros == BlockedZeros::floats)
    for (int64_t i = 0; i < w.blocks; ++i) to[i] = b.input<float>(3)[n * w.blocks + i] - w.middle();
  if (zeros == BlockedZeros::packed) read_zero_points(b.input<uint8_t>(3) + n * zero_bytes, w.bits, zero_bytes, to);
  return out;
}

void BlockedOperands::add_bias(const Buffers& b) const {
  if (!bias) return;
  const float* each = b.input<float>(zeros == BlockedZeros::none ? 3 : 4);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) b.output<float>(0)[i * columns + j] += each[j];
}

}  // namespace cameo::engine
