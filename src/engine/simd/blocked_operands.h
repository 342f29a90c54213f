// What MatMulNBits reads. Inputs: the left matrix, the codes, the scales; then zero points and bias, where they are.
#pragma once

#include <memory>

#include "engine/kernel.h"
#include "engine/simd/blocked_rows.h"

namespace cameo::engine {

enum class BlockedZeros : uint8_t { none, packed, floats };

struct BlockedOperands {
  BlockedSize weight;
  int64_t rows, columns, zero_bytes;
  BlockedZeros zeros;
  bool bias;

  Extents extents() const;
  int64_t zeros_size() const { return weight.blocks + 32; }  // whole registers of them are unpacked
  // Row n of the weights; `to`: where its zero points are unpacked to.
  BlockedRow row(const Buffers& b, int64_t n, float* to) const;
  void add_bias(const Buffers& b) const;
};

// The left side rounded to bytes, block by block. Precondition: has_vnni().
std::unique_ptr<Kernel> make_byte_blocked_product(const BlockedOperands& s);

}  // namespace cameo::engine
