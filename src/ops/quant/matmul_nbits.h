// The sizes of MatMulNBits' weight.
#pragma once

#include "ops/generated/microsoft.h"
#include "support/layers.h"

namespace cameo::ops {

struct BlockedWeight {
  explicit BlockedWeight(const op::MatMulNBits& a);  // precondition: the shape rule accepted the attributes

  int64_t columns, depth;  // N, K
  int64_t bits, block, blocks;

  int64_t block_bytes() const { return block * bits / 8; }
  int64_t zero_bytes() const { return (blocks * bits + 7) / 8; }  // of a column's packed zero points
};

}  // namespace cameo::ops
