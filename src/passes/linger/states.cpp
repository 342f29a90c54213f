#include "passes/linger/states.h"

namespace cameo::passes::linger {

void States::follow(const Graph& g, NodeId id) {
  const Node& n = g[id];
  const ops::linger::Passing* through = ops::linger::passing(n);
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    if (through) {
      if (const Quantised* q = of(g.input(id, 0)); q && i < through->results) set(n.outputs[i], *q);
    } else if (ops::linger::is_linger(n)) {
      if (const auto q = ops::linger::result_grid(n, i)) set(n.outputs[i], *q);
    }
  }
}

}  // namespace cameo::passes::linger
