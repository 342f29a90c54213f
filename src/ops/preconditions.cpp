#include "ops/preconditions.h"

#include "ops/infer.h"
#include "ops/revision.h"

namespace cameo {

void need_one_element(const Infer& c, size_t i, std::string_view what) {
  if (!c.has_rank(i)) return;
  for (const Dim d : c.shape(i))
    if (d.is_literal() && !d.is(1)) c.fail("infer.shape", cat(what, " has shape [", shape_text(c.shape(i)), "], not one element"));
}

void need_fit(const Infer& c, const Shape& small, const Shape& whole, std::string_view what) {
  bool fits = small.size() <= whole.size();
  for (size_t i = 0; fits && i < small.size(); ++i) {
    const Dim d = small[small.size() - 1 - i], room = whole[whole.size() - 1 - i];
    fits = d == room || d.is(1) || !d.is_literal() || !room.is_literal();
  }
  if (!fits) c.fail("infer.broadcast", cat(what, " of shape [", shape_text(small), "] does not broadcast to [", shape_text(whole), "]"));
}

const Fact& input_fact(const Graph& g, NodeId n, size_t i) {
  static const Fact absent;
  const ValueId v = g.input(n, i);
  return v ? g[v].fact : absent;
}

std::optional<int64_t> axis_of(Expand& e, int64_t axis, size_t i) {
  if (!e.fact(i).has_rank()) return e.refuse("the rank is not known"), std::nullopt;
  const int64_t rank = e.fact(i).rank();
  if (axis < -rank || axis >= rank) return e.refuse(cat("axis ", axis, " is outside a tensor of rank ", rank)), std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

}  // namespace cameo
