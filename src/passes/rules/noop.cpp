// Operators that do nothing.
#include <algorithm>
#include <numeric>

#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

void identity(Rewrite& rw) { rw.replace(rw.in(0)), rw.shape_is_kept(); }

void cast_to_own_type(Rewrite& rw) {
  if (rw.dtype(rw.in(0)) == rw.dtype(rw.out()) && rw.dtype(rw.out()) != DType::undefined)
    rw.replace(rw.in(0)), rw.shape_is_kept();
}

void concat_of_one(Rewrite& rw) {
  if (rw.in_count() == 1) rw.replace(rw.in(0)), rw.shape_is_kept();
}

void concat_with_empty(Rewrite& rw) {
  if (!rw.has_rank(rw.out())) return;
  const int64_t axis = rw.attrs<op::Concat>().axis, at = axis < 0 ? axis + rw.rank(rw.out()) : axis;
  std::vector<ValueId> kept;
  for (const ValueId v : rw.root().inputs)
    if (!rw.has_rank(v) || rw.rank(v) <= at || !rw.shape(v)[static_cast<size_t>(at)].is(0)) kept.push_back(v);
  if (kept.size() == rw.in_count() || kept.empty()) return;
  rw.replace(rw.on.Concat(kept, rw.attrs<op::Concat>()));
}

// Without training the data is unchanged; the mask, if it is used, is all true.
void dropout(Rewrite& rw) {
  const auto training = rw.ints(rw.in(2));
  const bool off = !rw.has(2) || (training && training->size() == 1 && (*training)[0] == 0);
  const auto ratio = rw.scalar(rw.in(1));
  if (!off && !(ratio && *ratio == 0)) return rw.no("it may be training");
  if (rw.wants(1)) return rw.no("its mask is used");
  rw.replace({rw.in(0), ValueId()}), rw.shape_is_kept();
}

void expand_to_own_shape(Rewrite& rw) {
  if (rw.has_rank(rw.in(0)) && rw.has_rank(rw.out()) && rw.same_shape(rw.shape(rw.in(0)), rw.shape(rw.out())))
    rw.replace(rw.in(0));
}

void flatten(Rewrite& rw) {
  const int64_t axis = rw.attrs<op::Flatten>().axis;
  if (rw.has_rank(rw.in(0)) && rw.rank(rw.in(0)) == 2 && (axis == 1 || axis == -1))
    rw.replace(rw.in(0)), rw.shape_is_kept();
}

void pad_by_nothing(Rewrite& rw) {
  const auto pads = rw.ints(rw.in(1));
  if (pads && std::all_of(pads->begin(), pads->end(), [](int64_t p) { return p == 0; }))
    rw.replace(rw.in(0)), rw.shape_is_kept();
}

// At most one size may be unknown: equal element counts then settle it.
bool same_but_one(const Rewrite& rw, const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  size_t open = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (rw.equal(a[i], b[i])) {
      if (rw.g.facts.less_equal(Dim(1), a[i]) != Answer::yes) open += 2;  // 0 elements settle nothing
    } else ++open;
  }
  return open <= 1 || rw.same_shape(a, b);
}

void reshape_to_own_shape(Rewrite& rw) {
  if (!rw.has_rank(rw.in(0)) || !rw.has_rank(rw.out())) return;
  if (!same_but_one(rw, rw.shape(rw.in(0)), rw.shape(rw.out()))) return;
  rw.replace(rw.in(0)), rw.shape_is_kept();
}

void squeeze_nothing(Rewrite& rw) {
  if (rw.has_rank(rw.in(0)) && rw.has_rank(rw.out()) && rw.rank(rw.in(0)) == rw.rank(rw.out())) rw.replace(rw.in(0));
}

void slice_of_all(Rewrite& rw) {
  const auto starts = rw.ints(rw.in(1)), steps = rw.ints(rw.in(4));
  if (!starts || (rw.has(4) && !steps) || !rw.has_rank(rw.in(0)) || !rw.has_rank(rw.out())) return;
  for (size_t i = 0; i < starts->size(); ++i)
    if (steps && (*steps)[i] != 1) return;
  // With steps of 1, a part that is as long as the whole is the whole.
  if (rw.same_shape(rw.shape(rw.in(0)), rw.shape(rw.out()))) return rw.replace(rw.in(0));
  const auto ends = rw.ints(rw.in(2));
  constexpr int64_t past_all = INT32_MAX;
  if (ends && std::all_of(starts->begin(), starts->end(), [](int64_t s) { return s == 0; }) &&
      std::all_of(ends->begin(), ends->end(), [](int64_t e) { return e >= past_all; }))
    rw.replace(rw.in(0)), rw.shape_is_kept();
}

void split_into_one(Rewrite& rw) {
  if (rw.root().outputs.size() == 1) rw.replace(rw.in(0)), rw.shape_is_kept();
}

void transpose_by_identity(Rewrite& rw) {
  const auto& perm = rw.attrs<op::Transpose>().perm;
  const bool sorted =
      perm ? std::is_sorted(perm->begin(), perm->end()) : rw.has_rank(rw.in(0)) && rw.rank(rw.in(0)) <= 1;
  if (sorted) rw.replace(rw.in(0)), rw.shape_is_kept();
}

void tile_once(Rewrite& rw) {
  const auto repeats = rw.ints(rw.in(1));
  if (repeats && std::all_of(repeats->begin(), repeats->end(), [](int64_t r) { return r == 1; }))
    rw.replace(rw.in(0)), rw.shape_is_kept();
}

void cumulative_over_one(Rewrite& rw) {  // Min, Max, Sum, Mean of a single operand
  if (rw.in_count() == 1) rw.replace(rw.in(0)), rw.shape_is_kept();
}

}  // namespace

std::vector<Rule> noop_rules() {
  return {
      rule("identity", {"Identity"}, identity),
      rule("cast-to-own-type", {"Cast"}, cast_to_own_type),
      rule("cast-like-own-type", {"CastLike"}, cast_to_own_type),
      rule("concat-of-one", {"Concat"}, concat_of_one),
      rule("concat-with-empty", {"Concat"}, concat_with_empty).trading(),
      rule("dropout", {"Dropout"}, dropout),
      rule("expand-to-own-shape", {"Expand"}, expand_to_own_shape),
      rule("flatten-of-matrix", {"Flatten"}, flatten),
      rule("pad-by-nothing", {"Pad"}, pad_by_nothing),
      rule("reshape-to-own-shape", {"Reshape"}, reshape_to_own_shape),
      rule("squeeze-nothing", {"Squeeze", "Unsqueeze"}, squeeze_nothing),
      rule("slice-of-all", {"Slice"}, slice_of_all),
      rule("split-into-one", {"Split"}, split_into_one),
      rule("transpose-by-identity", {"Transpose"}, transpose_by_identity),
      rule("tile-once", {"Tile"}, tile_once),
      rule("variadic-of-one", {"Min", "Max", "Sum", "Mean"}, cumulative_over_one),
  };
}

}  // namespace cameo::passes
