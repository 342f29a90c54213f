// Attention that splits its operands into heads and joins its result again: the kernel reads and writes
// [batch, rows, heads * depth] as it lies, so that nothing is moved.
#include "passes/rules/engine/tables.h"

namespace cameo::passes {

namespace {

using Perm = std::vector<int64_t>;

// What [b, heads, n, d] is made of: [b, n, heads * d].
ValueId before_split(const Rewrite& rw, ValueId v) {
  const auto* t = rw.made_by<op::Transpose>(v);
  if (!t || t->perm != Perm{0, 2, 1, 3}) return {};
  const ValueId split = rw.operand(v, 0);
  if (!rw.made_by<op::Reshape>(split) || !rw.has_rank(split)) return {};
  const ValueId flat = rw.operand(split, 0);
  if (!rw.has_rank(flat) || rw.rank(flat) != 3 || rw.rank(split) != 4) return {};
  const Shape a = rw.shape(flat), b = rw.shape(split);
  return rw.equal(a[0], b[0]) && rw.equal(a[1], b[1]) ? flat : ValueId();
}

void join(Rewrite& rw) {
  const ValueId joined = rw.in(0);
  const auto* t = rw.made_by<op::Transpose>(joined);
  if (!t || t->perm != Perm{0, 2, 1, 3}) return;
  const ValueId y = rw.operand(joined, 0);
  const auto* a = rw.made_by<op::Attention>(y);
  if (!a || !rw.has_rank(joined) || !rw.has_rank(rw.out()) || rw.rank(joined) != 4 || rw.rank(rw.out()) != 3) return;
  const Shape apart = rw.shape(joined), together = rw.shape(rw.out());
  if (!rw.equal(apart[0], together[0]) || !rw.equal(apart[1], together[1]))
    return rw.no("the result is not joined to [batch, rows, heads * depth]");
  const NodeId n = rw.maker(y);
  if (!rw.single_use(y) || !rw.single_use(joined)) return rw.no("the heads are used elsewhere");
  for (size_t i = 1; i < rw.g[n].outputs.size(); ++i)
    if (rw.g.used(rw.g[n].outputs[i])) return rw.no("more than the result is used");
  constexpr size_t past_at = 4;
  for (size_t i = past_at; i < rw.g[n].inputs.size(); ++i)
    if (rw.g.input(n, i)) return rw.no("it has keys from before");
  const ValueId q = before_split(rw, rw.operand(y, 0)), k = before_split(rw, rw.operand(y, 1)),
                v = before_split(rw, rw.operand(y, 2));
  if (!q || !k || !v) return rw.no("an operand is not split into heads here");
  const Dim heads = rw.shape(rw.operand(y, 0))[1], kv_heads = rw.shape(rw.operand(y, 1))[1];
  if (!heads.is_literal() || !kv_heads.is_literal()) return rw.no("the number of heads is not known");
  op::Attention attrs = *a;
  attrs.q_num_heads = heads.literal();
  attrs.kv_num_heads = kv_heads.literal();
  constexpr size_t mask_at = 3;
  rw.replace(rw.on.Attention(q, k, v, 1, rw.operand(y, mask_at), {}, {}, {}, attrs)[0]);
}

}  // namespace

std::vector<Rule> attention_head_rules() { return {rule("attention-heads", {"Reshape"}, join).making({"Attention"})}; }

}  // namespace cameo::passes
