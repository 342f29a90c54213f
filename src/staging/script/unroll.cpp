// A loop of known count, written out.
#include "staging/machine/stager.h"

namespace cameo::staging {

bool Stager::unroll(const ts::For& s, int64_t count, bool bounded) {
  const auto start = attempt();
  for (int64_t i = 0; i < count; ++i) {
    step();
    store(s.target, Dim(i));
    each_of(s.body);
    const size_t nodes = graph.node_capacity() - start.graph.nodes;
    if (!bounded || nodes <= options.max_unrolled_nodes || i + 1 == count) continue;
    take_back(start);
    return false;
  }
  return true;
}

}  // namespace cameo::staging
