#include "ir/describe.h"

namespace cameo::ir {

std::string describe(const Graph& g, NodeId n) {
  const Node& node = g[n];
  std::string out(node.op->name);
  if (!node.name.empty()) return cat(out, " '", node.name, "'");
  for (const ValueId v : node.outputs)
    if (!g[v].name.empty()) return cat(out, " -> '", g[v].name, "'");
  return cat(out, " #", n.index);
}

void add_place(Error& e, const Graph& g, NodeId n) {
  if (!e.diag().where.empty()) return;
  e.diag().where = place(g, n);
  if (const std::string node = describe(g, n); !e.diag().what.starts_with(node))
    e.diag().what = cat(node, ": ", e.diag().what);
}

Loc place(const Graph& g, NodeId n) {
  if (g[n].notes && !g[n].notes->where.empty()) return g[n].notes->where;
  Loc loc;
  loc.scope = g[n].name;
  return loc;
}

}  // namespace cameo::ir
