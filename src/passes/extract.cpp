#include "passes/extract.h"

#include <algorithm>

#include "ops/infer.h"
#include "passes/dce.h"
#include "passes/edit.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

// The value becomes an input of that name; what computed it stays only if something else needs it.
ValueId cut(Graph& g, ValueId v) {
  if (g[v].kind == Value::Kind::region_input) return v;
  if (g[v].fact.type.is_unknown())
    throw error("edit.extract", cat("the type of '", g[v].name, "' is not known, and an input must have one"));
  const std::string name = g[v].name;
  const ValueId input = g.add_input(g.main(), name, g[v].fact.type);
  g.replace_uses(v, input);
  g.rename(v, "");
  return input;
}

void order_inputs(Graph& g, const std::vector<ValueId>& wanted) {
  std::vector<Diag> missing;
  const auto all = g[g.main()].inputs;
  for (size_t i = all.size(); i-- > 0;) {
    if (std::find(wanted.begin(), wanted.end(), all[i]) != wanted.end()) continue;
    if (g[all[i]].weight && g.used(all[i])) continue;  // a default: stays, at the end
    if (g.used(all[i])) {
      const Use u = g[all[i]].uses.front();
      missing.push_back(error("edit.extract", cat("the input '", g[all[i]].name, "' is needed as well",
                                                  u.node ? cat(", by ", describe(g, u.node)) : ""))
                            .help("add it to --from")
                            .diag());
      continue;
    }
    g.remove_region_input(g.main(), i);
  }
  if (!missing.empty()) {
    std::reverse(missing.begin(), missing.end());
    throw Error(std::move(missing));
  }
  std::vector<ValueId> order = wanted;
  for (const ValueId v : g[g.main()].inputs)
    if (std::find(wanted.begin(), wanted.end(), v) == wanted.end()) order.push_back(v);
  g.reorder_inputs(g.main(), std::move(order));
}

}  // namespace

void extract(Model& m, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  Graph& g = m.graph;
  infer(g, m.functions);
  std::vector<ValueId> outputs;
  for (const std::string& name : to) outputs.push_back(find_value(g, name));
  if (!to.empty()) g.set_region_outputs(g.main(), outputs);
  std::vector<ValueId> inputs;
  for (const std::string& name : from) {
    const ValueId v = find_value(g, name);
    const ValueId input = cut(g, v);
    if (std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
  }
  if (from.empty())
    for (const ValueId v : g[g.main()].inputs) inputs.push_back(v);
  remove_dead_code(g);
  if (from.empty()) std::erase_if(inputs, [&](ValueId v) { return !g.used(v); });
  order_inputs(g, inputs);
}

}  // namespace cameo::passes
