// Parts of tensors: Slice, Split, Concat, Pad, Gather in a row.
#include <algorithm>
#include <map>

#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

// One Slice with constant operands, per axis. Sizes are clamped as the operator does.
struct Range {
  int64_t start, end, step;
};
using Ranges = std::map<int64_t, Range>;

std::optional<Ranges> ranges_of(const Rewrite& rw, NodeId n) {
  const ValueId x = rw.g.input(n, 0);
  if (!rw.has_rank(x)) return std::nullopt;
  const auto starts = rw.ints(rw.g.input(n, 1)), ends = rw.ints(rw.g.input(n, 2)), axes = rw.ints(rw.g.input(n, 3)),
             steps = rw.ints(rw.g.input(n, 4));
  if (!starts || !ends || (rw.g.input(n, 3) && !axes) || (rw.g.input(n, 4) && !steps)) return std::nullopt;
  Ranges out;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    axis += axis < 0 ? rw.rank(x) : 0;
    out[axis] = {(*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1};
  }
  return out;
}

ValueId emit_slice(Rewrite& rw, ValueId x, const Ranges& ranges) {
  std::vector<int64_t> starts, ends, axes, steps;
  bool plain = true;
  for (const auto& [axis, r] : ranges) {
    starts.push_back(r.start), ends.push_back(r.end), axes.push_back(axis), steps.push_back(r.step);
    plain &= r.step == 1;
  }
  return plain ? rw.on.Slice(x, rw.on.ints(starts), rw.on.ints(ends), rw.on.ints(axes))
               : rw.on.Slice(x, rw.on.ints(starts), rw.on.ints(ends), rw.on.ints(axes), rw.on.ints(steps));
}

// x[a:b][c:d] on one axis, where all four count from the front: x[a+c : min(b, a+d)].
std::optional<Range> combine(const Range& inner, const Range& outer) {
  if (inner.step != 1 || outer.step != 1 || inner.start < 0 || outer.start < 0 || inner.end < 0 || outer.end < 0)
    return std::nullopt;
  if (inner.start > INT64_MAX - outer.start) return std::nullopt;
  const int64_t end = outer.end > INT64_MAX - inner.start ? inner.end : std::min(inner.end, inner.start + outer.end);
  return Range{inner.start + outer.start, end, 1};
}

void slice_of_slice(Rewrite& rw) {
  if (!rw.made_by<op::Slice>(rw.in(0))) return;
  auto inner = ranges_of(rw, rw.maker(rw.in(0)));
  const auto outer = ranges_of(rw, rw.node);
  if (!inner || !outer) return rw.no("its bounds are computed");
  for (const auto& [axis, r] : *outer) {
    const auto it = inner->find(axis);
    if (it == inner->end()) {
      inner->emplace(axis, r);
      continue;
    }
    const auto both = combine(it->second, r);
    if (!both) return rw.no("both cut the same axis from the back, or in steps");
    it->second = *both;
  }
  rw.replace(emit_slice(rw, rw.operand(rw.in(0), 0), *inner));
  rw.shape_is_kept();
}

// The outermost takes in all of them at once: one after the other, each would copy the parts of those before it.
void concat_of_concat(Rewrite& rw) {
  if (!rw.has_rank(rw.out())) return;
  const auto at = [&](int64_t axis) { return axis < 0 ? axis + rw.rank(rw.out()) : axis; };
  const int64_t axis = at(rw.attrs<op::Concat>().axis);
  const auto alike = [&](const op::Concat* other) { return other && at(other->axis) == axis; };
  if (rw.single_use(rw.out())) {
    const NodeId user = rw.g[rw.out()].uses[0].node;
    if (user && rw.g[user].home == rw.root().home && rw.has_rank(rw.g[user].outputs[0]) &&
        alike(rw.g[user].as<op::Concat>()))
      return;
  }
  bool found = false;
  std::vector<ValueId> parts, open(rw.root().inputs.rbegin(), rw.root().inputs.rend());
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    if (alike(rw.made_by<op::Concat>(v)) && rw.single_use(v)) {
      const auto& more = rw.g[rw.maker(v)].inputs;
      open.insert(open.end(), more.rbegin(), more.rend());
      found = true;
    } else parts.push_back(v);
  }
  if (found) rw.replace(rw.on.Concat(parts, op::Concat{.axis = axis})), rw.shape_is_kept();
}

// All parts of a Split, in order, put together again.
void concat_of_split(Rewrite& rw) {
  const ValueId first = rw.in(0);
  const auto* split = rw.made_by<op::Split>(first);
  if (!split || !rw.has_rank(rw.out())) return;
  const NodeId n = rw.maker(first);
  const auto at = [&](int64_t axis) { return axis < 0 ? axis + rw.rank(rw.out()) : axis; };
  if (rw.g[n].outputs != rw.root().inputs || at(split->axis) != at(rw.attrs<op::Concat>().axis)) return;
  rw.replace(rw.g.input(n, 0)), rw.shape_is_kept();
}

// Adjacent slices of one tensor that together are a longer slice, or all of it.
void concat_of_slices(Rewrite& rw) {
  if (!rw.has_rank(rw.out()) || rw.in_count() < 2) return;
  const int64_t axis =
      rw.attrs<op::Concat>().axis < 0 ? rw.attrs<op::Concat>().axis + rw.rank(rw.out()) : rw.attrs<op::Concat>().axis;
  ValueId x;
  Range all{};
  for (const ValueId v : rw.root().inputs) {
    if (!rw.made_by<op::Slice>(v)) return;
    const auto r = ranges_of(rw, rw.maker(v));
    if (!r || r->size() != 1 || r->begin()->first != axis || r->begin()->second.step != 1 ||
        r->begin()->second.start < 0 || r->begin()->second.end < 0)
      return;
    const Range part = r->begin()->second;
    if (!x) x = rw.operand(v, 0), all = part;
    else if (rw.operand(v, 0) != x || part.start != all.end) return;
    else all.end = part.end;
    if (part.end < part.start) return;
  }
  // A cut beyond the end would not join where it says.
  const auto size = rw.shape(x)[static_cast<size_t>(axis)].known();
  if (!size || all.start > *size) return;
  for (size_t i = 0; i + 1 < rw.in_count(); ++i)
    if (ranges_of(rw, rw.maker(rw.in(i)))->begin()->second.end > *size) return;
  if (all.start == 0 && all.end >= *size) return rw.replace(x);
  rw.replace(emit_slice(rw, x, {{axis, all}}));
}

void pad_of_pad(Rewrite& rw) {
  const auto* inner = rw.made_by<op::Pad>(rw.in(0));
  if (!inner || inner->mode != "constant" || rw.attrs<op::Pad>().mode != "constant") return;
  const NodeId n = rw.maker(rw.in(0));
  const auto a = rw.ints(rw.in(1)), b = rw.ints(rw.g.input(n, 1));
  const auto value = [&](ValueId v) { return v ? rw.scalar(v) : std::optional<double>(0); };
  const auto va = value(rw.in(2)), vb = value(rw.g.input(n, 2));
  if (!a || !b || !va || !vb || *va != *vb || rw.has(3) || rw.g.input(n, 3) || a->size() != b->size()) return;
  std::vector<int64_t> sum;
  for (size_t i = 0; i < a->size(); ++i) {
    if ((*a)[i] < 0 || (*b)[i] < 0) return rw.no("a negative pad cuts");
    sum.push_back((*a)[i] + (*b)[i]);
  }
  rw.replace(rw.on.Pad(rw.operand(rw.in(0), 0), rw.on.ints(sum), rw.in(2), ValueId(), rw.attrs<op::Pad>()));
  rw.shape_is_kept();
}

// A part that lies within one operand of a Concat is a part of that operand.
void gather_of_concat(Rewrite& rw) {
  const auto* concat = rw.made_by<op::Concat>(rw.in(0));
  const auto indices = rw.ints(rw.in(1));
  if (!concat || !indices || indices->size() != 1 || !rw.has_rank(rw.in(0)) || !rw.has_rank(rw.in(1))) return;
  const int64_t rank = rw.rank(rw.in(0));
  const auto at = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const int64_t axis = at(rw.attrs<op::Gather>().axis);
  if (at(concat->axis) != axis) return;
  const auto parts = rw.g[rw.maker(rw.in(0))].inputs;
  int64_t index = (*indices)[0];
  if (index < 0) {
    int64_t whole = 0;
    for (const ValueId v : parts) {
      const auto size = rw.has_rank(v) ? rw.shape(v)[static_cast<size_t>(axis)].known() : std::nullopt;
      if (!size) return;
      whole += *size;
    }
    index += whole;
  }
  for (const ValueId v : parts) {
    const auto size = rw.has_rank(v) ? rw.shape(v)[static_cast<size_t>(axis)].known() : std::nullopt;
    if (!size || index < 0) return;
    if (index < *size) {
      rw.shape_is_kept();
      // A part of length 1, wanted as it is or without its axis.
      if (*size == 1 && rw.rank(rw.in(1)) == 1) return rw.replace(v);
      if (*size == 1 && rw.rank(rw.in(1)) == 0) return rw.replace(rw.on.Squeeze(v, rw.on.ints({axis})));
      const std::vector<int64_t> form(static_cast<size_t>(rw.rank(rw.in(1))), 1);  // as many axes as the index had
      const ValueId where = rw.on.constant(Tensor::int_scalar(index).reshaped(form));
      return rw.replace(rw.on.Gather(v, where, op::Gather{.axis = axis}));
    }
    index -= *size;
  }
}

}  // namespace

std::vector<Rule> slice_family_rules() {
  return {
      rule("slice-slice", {"Slice"}, slice_of_slice).trading(),
      rule("concat-concat", {"Concat"}, concat_of_concat),
      rule("concat-split", {"Concat"}, concat_of_split),
      rule("concat-slices", {"Concat"}, concat_of_slices),
      rule("pad-pad", {"Pad"}, pad_of_pad).trading(),
      rule("gather-concat", {"Gather"}, gather_of_concat).trading(),
  };
}

}  // namespace cameo::passes
