#include "lowering/aten/linalg/matrix.h"

#include <algorithm>
#include <utility>

#include "lowering/forms.h"

namespace cameo::lowering {

V no_fault(Lower& on, V a) { return on.full(without_last(on.shape(a), 2), Num(int64_t{0}), DType::i32); }

V swap_last(Lower& on, V x) {
  on.need_rank(x, 2, "a matrix operation");
  Ints perm = on.all_axes(x);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return on.transpose(x, perm);
}

Dims without_last(const Dims& s, size_t n) {
  if (s.size() < n)
    unsupported(cat("a matrix operation of a tensor with ", s.size(), s.size() == 1 ? " axis" : " axes"));
  return {s.begin(), s.end() - static_cast<std::ptrdiff_t>(n)};
}

V eye(Lower& on, Dim rows, Dim columns, DType t) {
  // ONNX Runtime has no kernel for the other types.
  const bool has_kernel = t == DType::f32 || t == DType::f64 || t == DType::i32 || t == DType::i64;
  const DType made = has_kernel ? t : DType::i32;
  return on.to(on.EyeLike(on.full({rows, columns}, Num(int64_t{0}), made), {.dtype = static_cast<int64_t>(made)}), t);
}

V identity(Lower& on, V like) {
  return on.expand(eye(on, on.dim(like, -2), on.dim(like, -1), on.dtype(like)), on.shape(like));
}

V solved(Lower& on, V a, V b) {
  const int64_t n = known_size(on, a, -1, "a system of equations"), rank = on.rank(a);
  if (n > 64) unsupported(cat("a system of ", n, " equations"), "systems of up to 64 are written out");
  Dims lead = broadcast_shapes(without_last(on.shape(a), 2), without_last(on.shape(b), 2)), sa = lead, sb = lead;
  sa.insert(sa.end(), {Dim(n), Dim(n)});
  sb.insert(sb.end(), {Dim(n), on.dim(b, -1)});
  V m = on.concat({on.expand(a, sa), on.expand(b, sb)}, std::max(rank, on.rank(b)) - 1);
  const int64_t column_axis = on.rank(m) - 1, row_axis = column_axis - 1;
  const V rows = iota(on, Dim(n)), tall = on.unsqueeze(rows, {1});
  for (int64_t c = 0; c < n; ++c) {
    const V here = on.On::int_scalar(c);
    const V below = on.Abs(on.slice(on.gather_scalar(m, column_axis, Dim(c)), row_axis, Dim(c), Dim(n)));
    const V pivot = on.Add(on.ArgMax(below, {.axis = row_axis, .keepdims = 1}), here);
    const V order = on.Where(on.Equal(rows, here), pivot, on.Where(on.Equal(rows, pivot), here, rows));
    m = on.GatherElements(m, on.expand(on.unsqueeze(order, {column_axis}), on.shape(m)), {.axis = row_axis});
    const V row = on.slice(m, row_axis, Dim(c), Dim(c + 1));
    const V scaled = on.Div(row, on.slice(row, column_axis, Dim(c), Dim(c + 1)));
    const V others = on.Sub(m, on.Mul(on.slice(m, column_axis, Dim(c), Dim(c + 1)), scaled));
    m = on.Where(on.Equal(tall, here), scaled, others);
  }
  return on.slice(m, column_axis, Dim(n), on.dim(m, column_axis));
}

V inverted(Lower& on, V a) { return on.dim(a, -1).is(0) ? a : solved(on, a, identity(on, a)); }

V from_factor(Lower& on, V l, bool upper) {
  return upper ? on.MatMul(swap_last(on, l), l) : on.MatMul(l, swap_last(on, l));
}

}  // namespace cameo::lowering
