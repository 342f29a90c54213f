// Weights seen otherwise while lowering: transposed, cut, scaled, without touching their bytes.
#include "lowering/lower.h"

namespace cameo::lowering {

V Lower::weight_value(Weight w, V like) {
  for (const V v : derived_weights_)
    if (graph()[v.id].weight && graph()[v.id].weight->same_recipe(w)) return v;
  const std::string& from = graph()[like.id].name;
  const V v = graph().add_initializer(graph().main(), from.empty() ? "" : cat(from, ".folded"),
                                      std::make_shared<const Weight>(std::move(w)));
  derived_weights_.push_back(v);
  return v;
}

namespace {
const Weight* plain_weight(const Graph& g, V x) {
  const auto& v = g[x.id];
  if (v.kind != Value::Kind::initializer || !v.weight || v.weight->scale || v.weight->strings ||
      is_sub_byte(v.weight->dtype))
    return nullptr;
  return v.weight.get();
}
}  // namespace

Opt<V> Lower::permuted_weight(V x, const Ints& perm) {
  const Weight* w = plain_weight(graph(), x);
  if (!w || !fold) return std::nullopt;
  return weight_value(w->permuted(perm), x);
}

Opt<V> Lower::sliced_weight(V x, int64_t axis, Dim start, Dim end) {
  const Weight* w = plain_weight(graph(), x);
  if (!w || !fold || !start.is_literal() || !end.is_literal()) return std::nullopt;
  const auto cut = w->sliced(axis, start.literal(), end.literal() - start.literal());
  return cut ? Opt<V>(weight_value(*cut, x)) : std::nullopt;
}

}  // namespace cameo::lowering
