// Transpose.
#include "ops/tensor/transpose.h"

#include <algorithm>
#include <numeric>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/tensor/contents.h"
#include "ops/tensor/shape_vector.h"

namespace cameo::ops {

namespace {

std::optional<std::vector<int64_t>> permutation(const op::Transpose& a, int64_t rank) {
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.rbegin(), perm.rend(), 0);
  if (!a.perm) return perm;
  auto sorted = *a.perm;
  std::sort(sorted.begin(), sorted.end());
  std::reverse(perm.begin(), perm.end());
  return sorted == perm ? a.perm : std::nullopt;
}

struct Transpose : Rules<op::Transpose> {
  static constexpr bool partial = true;
  static void infer(const op::Transpose& a, Infer& c) {
    if (!c.has_rank(0)) return infer_rank(a, c);
    const auto perm = permutation(a, c.rank(0));
    if (!perm) c.fail("infer.perm", cat("'perm' does not name each axis of rank ", c.rank(0), " once"));
    Shape out;
    for (const int64_t p : *perm) out.push_back(c.dim(0, p));
    c.out(0, out);
    move_contents(c);
  }
  // 'perm' gives the rank.
  static void infer_rank(const op::Transpose& a, Infer& c) {
    if (!a.perm) return;
    const auto rank = static_cast<int64_t>(a.perm->size());
    if (!permutation(a, rank)) c.fail("infer.perm", cat("'perm' does not name each of ", rank, " axes once"));
    c.out(0, c.fresh_shape(rank));
  }
  static void eval(const op::Transpose& a, Eval& k) {
    const Tensor& x = k.in(0);
    const auto perm = permutation(a, x.rank());
    if (!perm) k.fail("eval.perm", cat("'perm' does not name each axis of rank ", x.rank(), " once"));
    k.out(0, transposed(x, *perm));
  }
};

constexpr OpRules table[] = {rules<Transpose>()};

}  // namespace

Tensor transposed(const Tensor& x, std::span<const int64_t> perm) {
  const auto from = row_major_strides(x.shape());
  std::vector<int64_t> shape, strides;
  for (const int64_t p : perm) {
    shape.push_back(x.shape()[static_cast<size_t>(p)]);
    strides.push_back(from[static_cast<size_t>(p)]);
  }
  return strided(x, shape, strides);
}

std::span<const OpRules> transpose_rules() { return table; }

}  // namespace cameo::ops
