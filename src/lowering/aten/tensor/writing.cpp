// torch.Tensor: writing into a tensor. Staging makes it a new one; rows see the functional form.
#include "lowering/aten/torch/indexing.h"
#include "lowering/axes.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V index_fill(Lower& on, V x, int64_t dim, V at, V v) {
  v = on.to(v, on.dtype(x));
  if (on.rank(x) == 0) return v;
  const int64_t axis = on.axis(x, dim);
  at = at_least_rank(on, at, 1);
  Dims shape = on.shape(x);
  shape[static_cast<size_t>(axis)] = on.dim(at, 0);
  const V y =
      on.ScatterND(moved(on, x, {axis}, {0}), on.unsqueeze(at, {1}), moved(on, on.expand(v, shape), {axis}, {0}));
  return moved(on, y, {0}, {axis});
}

// Where all indices are equal; with `wrap` the diagonal of a tall matrix begins again below its end, after one row.
V fill_diagonal(Lower& on, V x, Num value, bool wrap) {
  on.need_rank(x, 2, "a diagonal");
  const int64_t rank = on.rank(x);
  const auto along = [&](int64_t axis) { return reach(on, iota(on, on.dim(x, axis)), axis, rank); };
  V mask;
  if (wrap && rank == 2) {
    const Dim columns = on.dim(x, 1);
    const V at = on.Add(on.Mul(along(0), on.int_scalar(columns)), along(1));
    mask = on.Equal(on.Mod(at, on.int_scalar(columns + Dim(1))), on.On::int_scalar(0));
  } else {
    mask = on.Equal(along(0), along(1));
    for (int64_t axis = 2; axis < rank; ++axis) mask = on.And(mask, on.Equal(along(0), along(axis)));
  }
  return on.Where(mask, on.scalar_like(value, x), x);
}

V masked_scatter(Lower& on, V x, V mask, V source) {
  const Dims shape = broadcast_shapes(on.shape(x), on.shape(mask));
  const V all = on.expand(mask, shape);
  const V taken = on.CumSum(on.to(flat(on, all), DType::i64), on.On::int_scalar(0));
  const V at = on.Max(std::vector<ValueId>{on.Sub(taken, on.On::int_scalar(1)), on.On::int_scalar(0)});
  return on.Where(all, on.reshape(on.Gather(flat(on, source), at, {.axis = 0}), shape), x);
}

constexpr Row table[] = {
    {"aten::fill.Scalar", [](Lower& on, V x, Num v) { return on.full(on.shape(x), v, on.dtype(x)); }},
    {"aten::fill.Tensor", [](Lower& on, V x, V v) { return on.expand(on.to(v, on.dtype(x)), on.shape(x)); }},
    {"aten::zero", [](Lower& on, V x) { return on.zeros_like(x); }},
    {"aten::fill_diagonal_", fn<fill_diagonal>},
    {"aten::index_fill.int_Scalar",
     [](Lower& on, V x, int64_t dim, V at, Num v) { return index_fill(on, x, dim, at, on.scalar_like(v, x)); }},
    {"aten::index_fill.int_Tensor", fn<index_fill>},
    {"aten::masked_fill.Scalar",
     [](Lower& on, V x, V mask, Num v) { return V(on.Where(mask, on.scalar_like(v, x), x)); }},
    {"aten::masked_fill.Tensor",
     [](Lower& on, V x, V mask, V v) { return V(on.Where(mask, on.to(v, on.dtype(x)), x)); }},
    {"aten::masked_scatter", fn<masked_scatter>},
    {"aten::put", [](Lower& on, V x, V at, V src,
                     bool accumulate) { return flat_put(on, x, at, src, accumulate ? "add" : "none"); }},
};

}  // namespace

std::span<const Row> tensor_writing_rows() { return table; }

}  // namespace cameo::lowering
