// Transposes: composed, cancelled, or seen as reshapes.
#include <algorithm>
#include <numeric>

#include "passes/rules/reshape_form.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

using Perm = std::vector<int64_t>;

// Nothing for one that does not fit its operand, which another check reports.
std::optional<Perm> perm_of(const Rewrite& rw, ValueId v) {
  const auto* t = rw.made_by<op::Transpose>(v);
  if (!t) return std::nullopt;
  const ValueId x = rw.operand(v, 0);
  if (t->perm && x && rw.has_rank(x) && static_cast<size_t>(rw.rank(x)) != t->perm->size()) return std::nullopt;
  if (t->perm)
    return std::all_of(t->perm->begin(), t->perm->end(),
                       [&](int64_t axis) { return axis >= 0 && static_cast<size_t>(axis) < t->perm->size(); })
               ? std::optional(*t->perm)
               : std::nullopt;
  if (!rw.has_rank(v)) return std::nullopt;
  Perm reversed(static_cast<size_t>(rw.rank(v)));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

void transpose_of_transpose(Rewrite& rw) {
  const auto outer = perm_of(rw, rw.out()), inner = perm_of(rw, rw.in(0));
  if (!outer || !inner) return;
  if (outer->size() != inner->size()) return;
  Perm both;
  for (const int64_t axis : *outer) both.push_back((*inner)[static_cast<size_t>(axis)]);
  const ValueId x = rw.operand(rw.in(0), 0);
  rw.shape_is_kept();
  if (std::is_sorted(both.begin(), both.end())) return rw.replace(x);
  rw.replace(rw.on.Transpose(x, op::Transpose{.perm = both}));
}

// Axes of size 1 may go anywhere: when the others keep their order, no element moves.
bool moves_nothing(const Rewrite& rw, ValueId v, const Perm& perm) {
  const ValueId x = rw.operand(v, 0);
  if (!rw.has_rank(x)) return false;
  int64_t last = -1;
  for (const int64_t axis : perm) {
    if (rw.shape(x)[static_cast<size_t>(axis)].is(1)) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

bool is_view(const Rewrite& rw, ValueId v) {
  return rw.made_by<op::Reshape>(v) || rw.made_by<op::Squeeze>(v) || rw.made_by<op::Unsqueeze>(v) ||
         rw.made_by<op::Flatten>(v);
}

// Beside another reshape that it can melt into.
void transpose_as_reshape(Rewrite& rw) {
  const auto perm = perm_of(rw, rw.out());
  if (!perm || !moves_nothing(rw, rw.out(), *perm)) return;
  const auto& uses = rw.g[rw.out()].uses;
  const bool feeds_view = uses.size() == 1 && uses[0].node && is_view(rw, rw.g[uses[0].node].outputs[0]);
  if (!is_view(rw, rw.in(0)) && !feeds_view) return;
  const Shape to = rw.shape(rw.out());
  if (const ValueId v = reshape_to(rw, rw.in(0), to)) rw.replace(v);
}

}  // namespace

std::vector<Rule> transpose_family_rules() {
  return {
      rule("transpose-transpose", {"Transpose"}, transpose_of_transpose).trading(),
      rule("transpose-as-reshape", {"Transpose"}, transpose_as_reshape).trading(),
  };
}

}  // namespace cameo::passes
