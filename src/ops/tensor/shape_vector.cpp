#include "ops/tensor/shape_vector.h"

#include <algorithm>

namespace cameo::ops {

void ShapeVector::size_of(int64_t axis, int64_t times, int64_t over) {
  const Dim d = on_.shape(like_)[static_cast<size_t>(axis)];
  if (d.is_literal()) add(d.literal() * times / over);
  else parts_.push_back({.axis = axis, .times = times, .over = over});
}

ValueId ShapeVector::computed(const Part& p, ValueId shape) {
  ValueId v = on_.Gather(shape, on_.ints({p.axis}));
  if (p.times != 1) v = on_.Mul(v, on_.ints({p.times}));
  if (p.over != 1) v = on_.Div(v, on_.ints({p.over}));
  return v;
}

ValueId ShapeVector::value() {
  const auto unknown = std::count_if(parts_.begin(), parts_.end(), [](const Part& p) { return p.axis >= 0; });
  std::vector<int64_t> literals;
  for (const Part& p : parts_) literals.push_back(p.axis >= 0 ? -1 : p.literal);
  // One unknown size is solved by the operator itself; beside a size of 0 that would be ambiguous.
  if (unknown == 0 || (unknown == 1 && std::find(literals.begin(), literals.end(), 0) == literals.end()))
    return on_.ints(literals);
  const ValueId shape = on_.Shape(like_);
  std::vector<ValueId> parts;
  for (const Part& p : parts_) parts.push_back(p.axis >= 0 ? computed(p, shape) : on_.ints({p.literal}));
  return on_.Concat(parts, {.axis = 0});
}

}  // namespace cameo::ops
