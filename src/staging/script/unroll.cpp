// A loop of known count, written out.
#include "staging/machine/stager.h"

namespace cameo::staging {

bool Stager::unroll(const ts::For& s, int64_t count, bool bounded) {
  const auto start = attempt();
  const size_t before = graph.node_capacity();
  for (int64_t i = 0; i < count; ++i) {
    step();
    store(s.target, Dim(i));
    block(s.body);
    const size_t nodes = graph.node_capacity() - before;
    if (!bounded || nodes <= options.max_unrolled_nodes || i + 1 == count) continue;
    take_back(start);
    return false;
  }
  return true;
}

}  // namespace cameo::staging
