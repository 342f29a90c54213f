// MatMulNBits and GatherBlockQuantized. Weights are read in blocks, for one row where they lie, for many a tile of
// columns at a time.
#pragma once

#include "engine/compiler.h"

namespace cameo::engine {

// y[i * y_row + j] = x[i * k + .] times row j of w[n, k].
struct FloatTile {
  int64_t m, k, n;
  const float *x, *w;
  int64_t w_row;
  float* y;
  int64_t y_row;
};
using MultiplyTile = void (*)(const FloatTile& t);
void multiply_tile_by_rows(const FloatTile& t);  // our own vector code
bool emit_blocked_product(Compiler& c, NodeId n, MultiplyTile multiply);
bool emit_blocked_gather(Compiler& c, NodeId n);  // GatherBlockQuantized

}  // namespace cameo::engine
