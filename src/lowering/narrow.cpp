#include "lowering/narrow.h"

#include <algorithm>

namespace cameo::lowering {

namespace {

bool all_stored(const Lower& on, const Node& n) {
  return std::all_of(n.inputs.begin(), n.inputs.end(),
                     [&](ValueId v) { return v && on.graph()[v].kind == Value::Kind::initializer; });
}

// Past Lower's own emit, which folds.
template <class Attrs>
V kept(Lower& on, Attrs attrs, std::vector<ValueId> inputs) {
  const V out = on.On::emit(op_of<Attrs>(), std::make_shared<const Attrs>(std::move(attrs)), std::move(inputs), 1)[0];
  if (on.on_node) on.on_node(on.graph()[out.id].def);
  return out;
}

}  // namespace

Opt<NarrowWeight> narrow_weight(const Lower& on, V w) {
  const NodeId def = on.graph()[w.id].def;
  if (!def || !all_stored(on, on.graph()[def])) return std::nullopt;
  const Node& n = on.graph()[def];
  if (n.is("Cast") && on.dtype(n.inputs[0]) == DType::f16 && on.dtype(w) == DType::f32)
    return NarrowWeight{n.inputs[0], {}, {}};
  const auto* attrs = n.is("DequantizeLinear") && n.inputs.size() == 3 ? n.as<op::DequantizeLinear>() : nullptr;
  if (!attrs || attrs->block_size != 0 || on.dtype(w) != DType::f32) return std::nullopt;
  const bool per_tensor = on.rank(V(n.inputs[1])) == 0;
  return NarrowWeight{n.inputs[0], n.inputs[1], n.inputs[2], per_tensor ? -1 : on.axis(w, attrs->axis)};
}

V widened(Lower& on, const NarrowWeight& w) {
  if (!w.scale.valid()) return kept(on, op::Cast{.to = static_cast<int64_t>(DType::f32)}, {w.data});
  op::DequantizeLinear attrs;
  if (w.axis >= 0) attrs.axis = w.axis;
  return kept(on, attrs, {w.data, w.scale, w.zero_point});
}

V transposed_weight(Lower& on, V w) {
  auto narrow = narrow_weight(on, w);
  if (!narrow) return on.transpose(w, {1, 0});
  const InMain here(on);
  narrow->data = on.transpose(narrow->data, {1, 0});
  if (narrow->axis >= 0) narrow->axis = 1 - narrow->axis;
  return widened(on, *narrow);
}

}  // namespace cameo::lowering
