#include "runtime/assumptions.h"

#include <algorithm>

#include "ir/size_relation.h"
#include "support/error.h"

namespace cameo::runtime {

namespace {

// Sizes that are a single name, as in the given inputs.
std::vector<std::pair<std::string_view, int64_t>> named_sizes(const Graph& g, std::span<const ValueId> params,
                                                              std::span<const Datum> inputs) {
  std::vector<std::pair<std::string_view, int64_t>> out;
  for (size_t i = 0; i < std::min(params.size(), inputs.size()); ++i) {
    const Fact& f = g[params[i]].fact;
    if (inputs[i].kind != Datum::Kind::tensor || !f.has_rank()) continue;
    const auto& sizes = inputs[i].tensor.shape();
    const auto& declared = f.shape();
    for (size_t k = 0; k < std::min(sizes.size(), declared.size()); ++k)
      if (declared[k].is_symbol()) out.emplace_back(symbol_name(declared[k]), sizes[k]);
  }
  return out;
}

}  // namespace

void check_assumptions(const Model& model, std::span<const ValueId> params, std::span<const Datum> inputs) {
  const auto said = std::find_if(model.metadata.begin(), model.metadata.end(),
                                 [](const auto& e) { return e.first == assumptions_key; });
  if (said == model.metadata.end()) return;
  DimContext names;
  const auto conditions = split_conditions(names, said->second);
  std::vector<Substitution> sizes;
  for (const auto& [name, size] : named_sizes(model.graph, params, inputs))
    if (names.has_symbol(name)) sizes.push_back({names.symbol(name), Dim(size)});
  for (const SizeRelation& c : conditions) {
    if (c.holds(sizes).value_or(true)) continue;
    std::string given;
    for (const Dim d : {c.a, c.b})
      for (const Dim symbol : symbols_of(d))
        for (const Substitution& s : sizes)
          if (s.symbol == symbol) given += cat(given.empty() ? "" : ", ", symbol_name(symbol), " = ", s.value.text());
    throw error("run.assumption", cat("the model was exported for ", c.text(), ", and here ", given))
        .help("export it for these sizes: numbers in place of names, or another range");
  }
}

}  // namespace cameo::runtime
