// Attention that was spelt out, where the target opset has the operator.
#include <algorithm>
#include <cmath>

#include "passes/rules/everywhere.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

using Perm = std::vector<int64_t>;

bool is_four(const Rewrite& rw, ValueId v) { return rw.has_rank(v) && rw.rank(v) == 4; }

// A value times or over one number.
struct Scaled {
  ValueId value;
  double factor = 1;
};
Scaled unscaled(const Rewrite& rw, ValueId v) {
  const bool times = rw.made_by<op::Mul>(v), over = rw.made_by<op::Div>(v);
  for (size_t i = over ? 1 : 0; i < 2 && (times || over); ++i) {
    const ValueId number = rw.operand(v, i), rest = rw.operand(v, 1 - i);
    const auto factor = rw.is_constant(number) ? rw.scalar(number) : std::nullopt;
    if (factor && *factor != 0 && is_four(rw, rest)) return {rest, over ? 1 / *factor : *factor};
  }
  return {v, 1};
}

// k of q @ k^T: what was transposed, or the transpose of what was not.
ValueId untransposed(Rewrite& rw, ValueId kt) {
  Perm perm{0, 1, 3, 2};
  ValueId base = kt;
  if (const auto* t = rw.made_by<op::Transpose>(kt); t && t->perm) {
    perm = *t->perm;
    std::swap(perm[2], perm[3]);
    base = rw.operand(kt, 0);
  }
  return std::is_sorted(perm.begin(), perm.end()) ? base : rw.on.Transpose(base, op::Transpose{.perm = perm});
}

// softmax(scale * q @ k^T + mask) @ v
void attention(Rewrite& rw) {
  const auto* softmax = rw.made_by<op::Softmax>(rw.in(0));
  const ValueId v = rw.in(1);
  if (!softmax || !is_four(rw, rw.in(0)) || !is_four(rw, v) || !is_float(rw.dtype(v))) return;
  if (softmax->axis != -1 && softmax->axis != 3) return rw.no("the softmax is not over the last axis");
  ValueId scores = rw.operand(rw.in(0), 0), mask;
  if (rw.made_by<op::Add>(scores)) {
    const ValueId a = rw.operand(scores, 0), b = rw.operand(scores, 1);
    const bool left = rw.made_by<op::MatMul>(unscaled(rw, a).value);
    mask = left ? b : a;
    scores = left ? a : b;
    if (!rw.has_rank(mask) || rw.rank(mask) < 2 || rw.rank(mask) > 4) return rw.no("the mask has not two to four axes");
  }
  Scaled product = unscaled(rw, scores);
  if (!rw.made_by<op::MatMul>(product.value)) return;
  const Scaled q = unscaled(rw, rw.operand(product.value, 0)), kt = unscaled(rw, rw.operand(product.value, 1));
  if (!is_four(rw, q.value) || !is_four(rw, kt.value)) return rw.no("the operands have not four axes");
  const Shape qs = rw.shape(q.value), ks = rw.shape(kt.value), vs = rw.shape(v);
  if (!rw.equal(qs[0], ks[0]) || !rw.equal(qs[1], ks[1]) || !rw.equal(qs[0], vs[0]) || !rw.equal(qs[1], vs[1]))
    return rw.no("batches or heads are broadcast");
  if (mask && !rw.equal(rw.shape(mask).back(), ks[3])) return rw.no("the mask is broadcast along the keys");
  const double scale = product.factor * q.factor * kt.factor;
  if (!(scale > 0) || !std::isfinite(scale)) return rw.no("the scale is not positive");
  const ValueId k = untransposed(rw, kt.value);
  rw.replace(rw.on.Attention(q.value, k, v, 1, mask, {}, {}, {}, op::Attention{.scale = static_cast<float>(scale)})[0]);
}

// What a mask is that was only expanded, or chosen by a condition that holds everywhere: the operator broadcasts by
// itself.
ValueId narrow_mask(const Rewrite& rw, ValueId mask) {
  if (rw.made_by<op::Expand>(mask)) return rw.operand(mask, 0);
  if (!rw.made_by<op::Where>(mask)) return mask;
  const auto condition = everywhere(rw, rw.operand(mask, 0));
  return !condition ? mask : rw.operand(mask, *condition != 0 ? 1 : 2);
}

// A mask that lets everything through (transformers makes one of positions that are not negative), or is needlessly
// wide.
void plain_mask(Rewrite& rw) {
  constexpr size_t mask_at = 3, past_at = 4, lengths_at = 6;
  const ValueId mask = rw.in(mask_at), keys = rw.in(1);
  if (!mask) return;
  if (rw.has(past_at) || rw.has(lengths_at) || !rw.has_rank(mask) || !rw.has_rank(keys) || rw.rank(mask) < 2 ||
      rw.rank(keys) < 2)
    return rw.no("the keys are not those of the input");
  // A mask that is too short hides what lies behind it.
  const auto as_long = [&](ValueId m) {
    return rw.has_rank(m) && rw.rank(m) >= 2 &&
           rw.equal(rw.shape(m).back(), rw.shape(keys)[static_cast<size_t>(rw.rank(keys) - 2)]);
  };
  if (!as_long(mask)) return rw.no("the mask is not as long as the keys");
  for (size_t i = 1; i < rw.root().outputs.size(); ++i)
    if (rw.wants(i)) return rw.no("more than the result is used");
  const auto v = everywhere(rw, mask);
  ValueId rest = v && *v == (rw.dtype(mask) == DType::boolean ? 1 : 0) ? ValueId() : narrow_mask(rw, mask);
  if (rest == mask || (rest && !as_long(rest))) return;
  std::vector<ValueId> outputs(rw.root().outputs.size());
  outputs[0] = rw.on.Attention(rw.in(0), keys, rw.in(2), 1, rest, {}, {}, {}, rw.attrs<op::Attention>())[0];
  rw.replace(std::move(outputs));
}

}  // namespace

Rule attention_fusion() { return rule("attention", {"MatMul"}, attention).rounding().making({"Attention"}); }

std::vector<Rule> attention_fusion_rules() {
  return {rule("attention-mask", {"Attention"}, plain_mask).trading(), attention_fusion()};
}

}  // namespace cameo::passes
