// EyeLike.
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

Tensor eye(DType dtype, int64_t rows, int64_t columns, int64_t k) {
  std::vector<int64_t> elements(static_cast<size_t>(element_count(std::vector<int64_t>{rows, columns})), 0);
  // The diagonal's row and column must both lie inside; compared so that no k overflows.
  const int64_t first = k < 0 ? (k <= -rows ? rows : -k) : 0;
  for (int64_t r = first; r < rows && k < columns && r + k < columns; ++r)
    elements[static_cast<size_t>(r * columns + r + k)] = 1;
  return store(dtype, {rows, columns}, elements);
}

DType dtype_of(const op::EyeLike& a, DType input) {
  if (!a.dtype) return input;
  const auto dtype = dtype_from_number(*a.dtype);
  if (!dtype) throw error("model.attribute", cat("EyeLike: ", *a.dtype, " is not an element type"));
  return *dtype;
}

struct EyeLike : Rules<op::EyeLike> {
  static void infer(const op::EyeLike& a, Infer& c) {
    if (c.rank(0) != 2) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", a matrix is wanted"));
    c.out(0, dtype_of(a, c.dtype(0)), c.shape(0));
  }
  static void eval(const op::EyeLike& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() != 2) k.fail("eval.rank", cat("EyeLike of a tensor of rank ", x.rank()));
    k.out(0, eye(dtype_of(a, x.dtype()), x.shape()[0], x.shape()[1], a.k));
  }

  static constexpr Expansion expansions[] = {
      expansion<op::EyeLike>(9, Exactness::exact,
                             [](const op::EyeLike& a, Expand& e) {
                               const auto shape = e.fact(0).has_rank() ? known_shape(e.fact(0).shape()) : std::nullopt;
                               if (!shape) return e.refuse("the matrix's size is not known before the model runs");
                               if (element_count(*shape) > 1 << 24)
                                 return e.refuse("the matrix is too large to be stored");
                               e.replace({e.on.constant(eye(dtype_of(a, e.dtype(0)), (*shape)[0], (*shape)[1], a.k))});
                             }),
  };
};

constexpr OpRules table[] = {rules<EyeLike>()};

}  // namespace

std::span<const OpRules> eye_like_rules() { return table; }

}  // namespace cameo::ops
