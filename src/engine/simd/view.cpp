#include "engine/simd/emitters.h"

namespace cameo::engine {

bool emit_view(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const ValueId x = node.inputs[0], y = node.outputs[0];
  // A shape or axes that only the run knows may not fit, even where the sizes follow without them: the kernel looks.
  if (node.inputs.size() > 1 && node.inputs[1] && !c.is_constant(node.inputs[1])) return false;
  const Desc &from = *c.desc(x), &to = *c.desc(y);
  if (node.outputs.size() != 1 || from.dtype == DType::string || from.dtype != to.dtype || from.count() != to.count())
    return false;
  const SlotId s = node.is("Identity") ? c.slot(x) : c.plain(x);
  Desc d = to;
  d.layout = c.slot_desc(s).layout;
  c.bind(y, c.view(s, d));
  return true;
}

}  // namespace cameo::engine
