// Products by weights of a few bits: tiles of them, once they are numbers, by oneDNN.
#include "engine/simd/blocked_product.h"

#include "engine/onednn/emitters.h"
#include "support/error.h"

namespace cameo::engine {

bool emit_matmul_nbits(Compiler& c, NodeId n) {
  return emit_blocked_product(c, n, [](const FloatTile& t) {
    if (dnnl_sgemm('N', 'T', t.m, t.n, t.k, 1, t.x, t.k, t.w, t.w_row, 0, t.y, t.y_row) != dnnl_success)
      throw error("run.onednn", "a matrix product failed");
  });
}

}  // namespace cameo::engine
