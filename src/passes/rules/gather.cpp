// What is picked from a tensor in pieces, or put back whole.
#include <algorithm>

#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

// Concat(Gather(x, i), Gather(x, j)) along an axis of the indices: one Gather with both.
void concat_of_gathers(Rewrite& rw) {
  if (rw.in_count() < 2 || !rw.has_rank(rw.out())) return;
  ValueId x;
  int64_t axis = 0, rank = 0;
  std::vector<ValueId> indices;
  for (const ValueId v : rw.root().inputs) {
    const auto* gather = rw.made_by<op::Gather>(v);
    if (!gather || !rw.has_rank(rw.operand(v, 0)) || !rw.has_rank(rw.operand(v, 1))) return;
    const ValueId from = rw.operand(v, 0), index = rw.operand(v, 1);
    const int64_t at = gather->axis < 0 ? gather->axis + rw.rank(from) : gather->axis;
    if (indices.empty()) x = from, axis = at, rank = rw.rank(index);
    if (from != x || at != axis || rw.rank(index) != rank || rw.dtype(index) != rw.dtype(rw.operand(rw.in(0), 1)))
      return rw.no("they pick from different tensors or along different axes");
    indices.push_back(index);
  }
  const int64_t along =
      rw.attrs<op::Concat>().axis < 0 ? rw.attrs<op::Concat>().axis + rw.rank(rw.out()) : rw.attrs<op::Concat>().axis;
  if (along < axis || along >= axis + rank)
    return rw.no("they are joined along another axis than they are picked from");
  const ValueId all = rw.on.Concat(indices, op::Concat{.axis = along - axis});
  rw.replace(rw.on.Gather(x, all, op::Gather{.axis = axis})), rw.shape_is_kept();
}

// Indices [0], [1], ..., [n-1]: constants, or a Range that was given a last axis.
bool counts_all(const Rewrite& rw, ValueId indices, Dim n) {
  if (const auto list = rw.ints(indices)) {
    for (size_t i = 0; i < list->size(); ++i)
      if ((*list)[i] != static_cast<int64_t>(i)) return false;
    return rw.equal(n, Dim(static_cast<int64_t>(list->size())));
  }
  if (!rw.made_by<op::Unsqueeze>(indices) && !rw.made_by<op::Reshape>(indices)) return false;
  const ValueId range = rw.operand(indices, 0);
  if (!rw.made_by<op::Range>(range) || rw.scalar(rw.operand(range, 0)) != 0.0 || rw.scalar(rw.operand(range, 2)) != 1.0)
    return false;
  const auto limit = rw.fact(rw.operand(range, 1)).ints();
  return limit && limit->size() == 1 && rw.equal((*limit)[0], n);
}

// x[:] = y
void overwritten(Rewrite& rw) {
  const ValueId x = rw.in(0), indices = rw.in(1), updates = rw.in(2);
  if (rw.attrs<op::ScatterND>().reduction != "none" || !rw.has_rank(x) || !rw.has_rank(indices) ||
      !rw.has_rank(updates))
    return;
  if (rw.rank(indices) != 2 || !rw.shape(indices)[1].is(1) || !rw.same_shape(rw.shape(x), rw.shape(updates)))
    return rw.no("the updates have not the shape of the whole");
  if (!counts_all(rw, indices, rw.shape(x)[0])) return rw.no("the indices do not count through the first axis");
  rw.replace(updates);
}

}  // namespace

std::vector<Rule> gather_family_rules() {
  return {
      rule("concat-gather", {"Concat"}, concat_of_gathers),
      rule("scatter-all", {"ScatterND"}, overwritten),
  };
}

}  // namespace cameo::passes
