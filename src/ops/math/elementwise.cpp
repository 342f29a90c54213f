#include "ops/math/elementwise.h"

#include <numeric>

namespace cameo::ops {

void infer_like_first(Infer& c) { c.out(0, c.shape(0)); }

void infer_broadcast_all(Infer& c) {
  std::vector<size_t> all(c.in_count());
  std::iota(all.begin(), all.end(), size_t{0});
  c.out(0, c.broadcast(all));
}

}  // namespace cameo::ops
