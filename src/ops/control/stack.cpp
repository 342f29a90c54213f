#include "ops/control/stack.h"

#include <algorithm>

namespace cameo::ops {

void Stack::add(const Datum& step) {
  if (step.kind != Datum::Kind::tensor)
    Eval::fail("eval.shape", "an iteration gives no tensor where results are stacked");
  steps_.push_back(step.tensor);
}

Tensor Stack::joined(int64_t axis, bool backwards, const Type& type) const {
  if (steps_.empty()) {
    std::vector<int64_t> shape;
    if (type.is_tensor() && type.has_rank())
      for (const Dim d : *type.shape) shape.push_back(d.known().value_or(0));
    else shape = {0};
    if (axis < 0) axis += static_cast<int64_t>(shape.size());
    if (axis >= 0 && axis < static_cast<int64_t>(shape.size())) shape[static_cast<size_t>(axis)] = 0;
    return zeros(type.elem == DType::undefined ? DType::f32 : type.elem, shape);
  }
  const int64_t at = Eval::axis(axis, steps_[0].rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor& t : steps_) {
    auto shape = t.shape();
    if (t.rank() != steps_[0].rank()) Eval::fail("eval.shape", "iterations give tensors of different rank");
    shape.insert(shape.begin() + at, 1);
    parts.push_back(t.reshaped(shape));
  }
  if (backwards) std::reverse(parts.begin(), parts.end());
  return concat(parts, at);
}

}  // namespace cameo::ops
