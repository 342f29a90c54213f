// A mean over all axes behind the channels, which exporters write for global pooling: oneDNN's kernel keeps the layout.
#include "passes/rules/engine/tables.h"

namespace cameo::passes {

namespace {

void global_average(Rewrite& rw) {
  const ValueId x = rw.in(0);
  if (!rw.has_rank(x) || rw.rank(x) < 3 || rw.dtype(x) != DType::f32) return;
  if (!rw.attrs<op::ReduceMean>().keepdims) return rw.no("the axes are dropped");
  const int64_t rank = rw.rank(x);
  const auto axes = rw.axes(rw.node, 1, rank);
  if (!axes) return rw.no("its axes are not constants");
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t a : *axes) {
    if (a < 0 || a >= rank) return;
    reduced[static_cast<size_t>(a)] = true;
  }
  for (size_t i = 0; i < reduced.size(); ++i)
    if (reduced[i] != (i >= 2)) return rw.no("its axes are not all those behind the channels");
  rw.replace(rw.on.GlobalAveragePool(x));
}

}  // namespace

std::vector<Rule> pool_rules() {
  return {
      rule("global-average-pool", {"ReduceMean"}, global_average).rounding().trading().making({"GlobalAveragePool"})};
}

}  // namespace cameo::passes
