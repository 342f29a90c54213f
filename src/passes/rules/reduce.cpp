// Reductions: over one element, in a row, or with their axes put back.
#include <algorithm>
#include <numeric>

#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

using Axes = std::vector<int64_t>;

// The axes a node reduces, of a tensor of this rank; nothing when they are computed.
template <class A>
std::optional<Axes> reduced_axes(const Rewrite& rw, NodeId n, const A& attrs, int64_t rank) {
  auto axes = rw.axes(n, 1, rank);
  if (rw.g.input(n, 1) && !axes) return std::nullopt;
  if (axes && !axes->empty()) return axes;
  if (attrs.noop_with_empty_axes) return std::nullopt;
  Axes all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Reduce, then put the axes back: that is keepdims.
template <class A>
void keepdims(Rewrite& rw) {
  const auto* reduce = rw.made_by<A>(rw.in(0));
  if (!reduce || reduce->keepdims || !rw.single_use(rw.in(0))) return;
  const NodeId n = rw.maker(rw.in(0));
  const ValueId x = rw.g.input(n, 0);
  if (!rw.has_rank(x) || !rw.has_rank(rw.out())) return;
  A attrs = *reduce;
  attrs.keepdims = 1;
  std::vector<ValueId> inputs = rw.g[n].inputs;
  const auto added = rw.ints(rw.in(1));
  if (!added) return;
  const ValueId v = rw.on.make(attrs, inputs, 1)[0];
  if (!rw.has_rank(v) || rw.rank(v) != rw.rank(rw.out())) return;
  // The axes must be the ones that were reduced.
  for (const int64_t a : *added)
    if (!rw.shape(v)[static_cast<size_t>(a < 0 ? a + rw.rank(v) : a)].is(1))
      return rw.no("other axes are added than were reduced");
  rw.replace(v);
}

// The largest, least, sum, mean and product of one element are that element.
template <class A>
void over_ones(Rewrite& rw) {
  const ValueId x = rw.in(0);
  if (!rw.root().as<A>() || !rw.has_rank(x)) return;
  const A attrs = rw.attrs<A>();
  const auto axes = reduced_axes(rw, rw.node, attrs, rw.rank(x));
  if (!axes) return;
  if (!std::all_of(axes->begin(), axes->end(), [&](int64_t a) { return rw.shape(x)[static_cast<size_t>(a)].is(1); }))
    return rw.no("an axis has more than one element, or none");
  rw.shape_is_kept();
  rw.replace(attrs.keepdims || axes->empty() ? x : rw.on.Squeeze(x, rw.on.ints(*axes)));
}

// Over some axes, then over others: over all of them at once.
template <class A>
void in_a_row(Rewrite& rw) {
  const auto* outer = rw.root().as<A>();
  const auto* inner = outer ? rw.made_by<A>(rw.in(0)) : nullptr;
  if (!inner) return;
  const NodeId n = rw.maker(rw.in(0));
  const ValueId x = rw.g.input(n, 0);
  if (!rw.has_rank(x) || !rw.has_rank(rw.in(0))) return;
  if (inner->keepdims != outer->keepdims) return rw.no("one of them keeps its axes, the other does not");
  const auto first = reduced_axes(rw, n, *inner, rw.rank(x)),
             second = reduced_axes(rw, rw.node, *outer, rw.rank(rw.in(0)));
  if (!first || !second) return rw.no("the axes are computed");
  Axes left;  // axis of the first result -> axis of x
  for (int64_t a = 0; a < rw.rank(x); ++a)
    if (inner->keepdims || !std::binary_search(first->begin(), first->end(), a)) left.push_back(a);
  Axes all = *first;
  for (const int64_t a : *second) all.push_back(left[static_cast<size_t>(a)]);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const A attrs{.keepdims = outer->keepdims};
  rw.shape_is_kept();
  rw.replace(rw.on.make(attrs, {x, rw.on.ints(all)}, 1)[0]);
}

template <class... A>
void over_ones_any(Rewrite& rw) {
  (over_ones<A>(rw), ...);
}
template <class... A>
void in_a_row_any(Rewrite& rw) {
  (in_a_row<A>(rw), ...);
}
template <class... A>
void keepdims_any(Rewrite& rw) {
  (keepdims<A>(rw), ...);
}

}  // namespace

std::vector<Rule> reduction_family_rules() {
  using namespace op;
  return {
      rule("keepdims", {"Unsqueeze"},
           keepdims_any<ReduceMean, ReduceSum, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceLogSum,
                        ReduceLogSumExp, ReduceSumSquare>),
      rule("reduce-of-one", {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"},
           over_ones_any<ReduceMean, ReduceSum, ReduceMax, ReduceMin, ReduceProd>)
          .trading(),
      rule("reduce-reduce", {"ReduceMax", "ReduceMin"}, in_a_row_any<ReduceMax, ReduceMin>),
      rule("reduce-reduce-sum", {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp"},
           in_a_row_any<ReduceSum, ReduceMean, ReduceProd, ReduceL1, ReduceL2, ReduceLogSumExp>)
          .rounding(),
  };
}

}  // namespace cameo::passes
