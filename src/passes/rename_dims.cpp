#include "passes/rename_dims.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::passes {

namespace {
Type substituted(const Type& t, std::span<const Substitution> map) {
  Type out = t;
  if (out.shape)
    for (Dim& d : *out.shape)
      if (!d.is_literal()) d = substitute(d, map);
  if (out.inner) out.inner = std::make_shared<const Type>(substituted(*out.inner, map));
  return out;
}
}  // namespace

void substitute_dims(Graph& g, std::span<const Substitution> map) {
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (g[ValueId(i)].kind != Value::Kind::dead) g.fact(ValueId(i)).type = substituted(g[ValueId(i)].fact.type, map);
}

void rename_dims(Graph& g, const std::vector<std::pair<std::string, std::string>>& from_to) {
  std::vector<Dim> symbols;
  const Region& main = g[g.main()];
  for (const auto* list : {&main.inputs, &main.outputs})
    for (const ValueId v : *list) {
      if (!g[v].fact.has_rank()) continue;
      for (const Dim d : g[v].fact.shape())
        if (!d.is_literal())
          for (const Dim s : symbols_of(d))
            if (std::find(symbols.begin(), symbols.end(), s) == symbols.end()) symbols.push_back(s);
    }
  std::vector<Substitution> map;
  for (const auto& [from, to] : from_to) {
    const auto it = std::find_if(symbols.begin(), symbols.end(),
                                 [name = std::string_view(from)](Dim s) { return symbol_name(s) == name; });
    if (it == symbols.end()) {
      std::string names;
      for (const Dim s : symbols) names += cat(names.empty() ? "" : ", ", symbol_name(s));
      throw error("use.rename-dim", cat("no input or output has a size named '", from, "'"))
          .help(names.empty() ? "all sizes are numbers" : cat("there are: ", names));
    }
    map.push_back({*it, g.dims().symbol(to)});
  }
  if (!map.empty()) substitute_dims(g, map);
}

}  // namespace cameo::passes
