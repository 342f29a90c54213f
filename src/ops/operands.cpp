#include "ops/operands.h"

#include "support/error.h"

namespace cameo::ops {

const Fact& input_fact(const Graph& g, NodeId n, size_t i) {
  static const Fact absent;
  const ValueId v = g.input(n, i);
  return v ? g[v].fact : absent;
}

std::optional<int64_t> axis_of(Expand& e, int64_t axis, size_t i) {
  if (!e.fact(i).has_rank()) return e.refuse("the rank is not known"), std::nullopt;
  const int64_t rank = e.fact(i).rank();
  if (axis < -rank || axis >= rank)
    return e.refuse(cat("axis ", axis, " is outside a tensor of rank ", rank)), std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

}  // namespace cameo::ops
