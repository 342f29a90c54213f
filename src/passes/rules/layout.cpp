// Axes that are merged for a moment, and scales that several operands carry.
#include <algorithm>
#include <cmath>

#include "passes/rules/reshape_form.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

using Axes = std::vector<int64_t>;

// Which consecutive axes of `from` each axis of `to` is made of; nothing when one is split.
std::optional<std::vector<Axes>> merged_axes(const Rewrite& rw, const Shape& from, const Shape& to) {
  std::vector<Axes> out;
  size_t next = 0;
  for (const Dim d : to) {
    Axes group;
    Dim size(1);
    while (!rw.equal(size, d)) {
      if (next == from.size()) return std::nullopt;
      size = size * from[next];
      group.push_back(static_cast<int64_t>(next++));
    }
    out.push_back(std::move(group));
  }
  for (; next < from.size(); ++next) {
    if (!from[next].is(1) || out.empty()) return std::nullopt;
    out.back().push_back(static_cast<int64_t>(next));
  }
  return out;
}

// Reshape(Transpose(Reshape(x))) that merges axes and takes them apart again is a Transpose of x.
void transpose_of_merged(Rewrite& rw) {
  const ValueId turned = rw.in(0);
  const auto* transpose = rw.made_by<op::Transpose>(turned);
  if (!transpose || !transpose->perm || !rw.has_rank(rw.out())) return;
  const ValueId merged = rw.operand(turned, 0);
  if (!rw.made_by<op::Reshape>(merged)) return;
  const ValueId x = rw.operand(merged, 0);
  if (!rw.has_rank(x) || !rw.has_rank(merged)) return;
  const Shape from = rw.shape(x), to = rw.shape(rw.out());
  const auto groups = merged_axes(rw, from, rw.shape(merged));
  if (!groups) return rw.no("the first reshape splits an axis");
  Axes perm;
  for (const int64_t axis : *transpose->perm)
    perm.insert(perm.end(), (*groups)[static_cast<size_t>(axis)].begin(), (*groups)[static_cast<size_t>(axis)].end());
  const ValueId y = std::is_sorted(perm.begin(), perm.end()) ? x : rw.on.Transpose(x, op::Transpose{.perm = perm});
  if (const ValueId v = reshape_to(rw, y, to)) rw.replace(v);
}

// Reshape(Gemm(Reshape(x), w, c)) that only flattens the batch around the product is MatMul, which batches by itself.
void gemm_between_reshapes(Rewrite& rw) {
  const ValueId product = rw.in(0);
  const auto* gemm = rw.made_by<op::Gemm>(product);
  if (!gemm || gemm->transA || gemm->alpha != 1 || !rw.has_rank(rw.out())) return;
  const ValueId flat = rw.operand(product, 0), w = rw.operand(product, 1), c = rw.operand(product, 2);
  if (c && (gemm->beta != 1 || !rw.has_rank(c))) return;
  if (!rw.made_by<op::Reshape>(flat) && !rw.made_by<op::Flatten>(flat)) return;
  const ValueId x = rw.operand(flat, 0);
  if (!rw.has_rank(x) || rw.rank(x) < 2 || !rw.has_rank(flat) || !rw.has_rank(product)) return;
  Shape wanted = rw.shape(x);
  if (!rw.equal(wanted.back(), rw.shape(flat)[1])) return rw.no("the first reshape changes the last axis");
  wanted.back() = rw.shape(product)[1];
  if (!rw.same_shape(wanted, rw.shape(rw.out()))) return rw.no("the second reshape does not undo the first");
  if (c && rw.rank(c) == 2 && !rw.shape(c)[0].is(1)) return rw.no("what is added differs from row to row");
  if (c && rw.rank(c) > 2) return;
  ValueId right = w;
  if (gemm->transB) {
    const Weight* weight = rw.weight(w);
    if (!weight || weight->scale || weight->strings || is_sub_byte(weight->dtype))
      return rw.no("the right matrix would have to be transposed");
    right = rw.on.weight(weight->permuted(Axes{1, 0}), rw.g[w].name);
  }
  const ValueId y = rw.on.MatMul(x, right);
  rw.replace(c ? rw.on.Add(y, c) : y);
}

// Reshape(MatMul(Reshape(x), w)) that only flattens the batch around the product: MatMul batches by itself.
void matmul_between_reshapes(Rewrite& rw) {
  const ValueId product = rw.in(0);
  if (!rw.made_by<op::MatMul>(product) || !rw.has_rank(product) || !rw.has_rank(rw.out())) return;
  const ValueId a = rw.operand(product, 0), b = rw.operand(product, 1);
  const auto source = [&](ValueId v) {
    return rw.made_by<op::Reshape>(v) || rw.made_by<op::Flatten>(v) || rw.made_by<op::Squeeze>(v) ||
                   rw.made_by<op::Unsqueeze>(v)
               ? rw.operand(v, 0)
               : v;
  };
  const ValueId x = source(a);
  if (x == a || !rw.has_rank(x) || !rw.has_rank(a) || !rw.has_rank(b) || rw.rank(x) < 2 || rw.rank(a) < 2 ||
      rw.rank(b) < 2)
    return;
  Shape wanted = rw.shape(x);
  if (!rw.equal(wanted.back(), rw.shape(a).back())) return rw.no("the first reshape changes the last axis");
  ValueId y = b;
  if (rw.rank(b) > 2) {  // batch by batch: both keep their matrices, and have the same batch
    y = source(b);
    if (!rw.has_rank(y) || rw.rank(y) != rw.rank(x) || rw.rank(a) != rw.rank(b)) return;
    const Shape &from = rw.shape(y), &flat = rw.shape(b);
    const auto same = [&](const Shape& s, const Shape& t, size_t back) {
      return rw.equal(s[s.size() - back], t[t.size() - back]);
    };
    if (!same(wanted, rw.shape(a), 2) || !same(from, flat, 1) || !same(from, flat, 2))
      return rw.no("a reshape changes the matrices");
    for (size_t i = 0; i + 2 < wanted.size(); ++i)
      if (!rw.equal(wanted[i], from[i])) return rw.no("the batches differ");
  }
  wanted.back() = rw.shape(product).back();
  if (!rw.same_shape(wanted, rw.shape(rw.out()))) return rw.no("the second reshape does not undo the first");
  rw.replace(rw.on.MatMul(x, y));
}

// A single number that multiplies a value, and the value.
struct Scaled {
  ValueId value;
  double factor;
};
std::optional<Scaled> scaled(const Rewrite& rw, ValueId v) {
  const bool times = rw.made_by<op::Mul>(v), over = rw.made_by<op::Div>(v);
  if (!times && !over) return std::nullopt;
  for (size_t i = over ? 1 : 0; i < 2; ++i) {
    const ValueId number = rw.operand(v, i);
    const auto factor =
        rw.is_constant(number) && rw.has_rank(number) && rw.rank(number) <= 1 ? rw.scalar(number) : std::nullopt;
    if (!factor || !rw.has_rank(v) || !rw.has_rank(rw.operand(v, 1 - i)) || rw.rank(rw.operand(v, 1 - i)) != rw.rank(v))
      continue;
    return Scaled{rw.operand(v, 1 - i), over ? 1 / *factor : *factor};
  }
  return std::nullopt;
}

// (a*q) @ (b*k) = ab * (q @ k): one scale instead of two.
void scales_of_matmul(Rewrite& rw) {
  const DType t = rw.dtype(rw.out());
  if (t != DType::f32 && t != DType::f64) return;
  const auto a = scaled(rw, rw.in(0)), b = scaled(rw, rw.in(1));
  if (!a || !b || !std::isfinite(a->factor * b->factor)) return;
  const ValueId y = rw.on.MatMul(a->value, b->value);
  rw.replace(rw.on.Mul(y, rw.on.number(a->factor * b->factor, t)));
}

}  // namespace

std::vector<Rule> layout_rules() {
  return {
      rule("transpose-of-merged", {"Reshape"}, transpose_of_merged),
      rule("gemm-between-reshapes", {"Reshape"}, gemm_between_reshapes).rounding(),
      rule("matmul-between-reshapes", {"Reshape", "Squeeze", "Unsqueeze"}, matmul_between_reshapes).rounding(),
      rule("scales-of-matmul", {"MatMul"}, scales_of_matmul).rounding().last(),
  };
}

}  // namespace cameo::passes
