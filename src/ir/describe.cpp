#include "ir/describe.h"

#include "ir/node_name.h"

namespace cameo::ir {

const std::string& node_name(const Graph& g, NodeId n) {
  static const std::string none;
  if (!g[n].name.empty()) return g[n].name;
  for (const ValueId v : g[n].outputs)
    if (!g[v].name.empty()) return g[v].name;
  return none;
}

std::string describe(const Graph& g, NodeId n) {
  const std::string& name = node_name(g, n);
  if (name.empty()) return cat(g[n].op->name, " #", n.index);
  return cat(g[n].op->name, g[n].name.empty() ? " -> '" : " '", name, "'");
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
