// torch, Other Operations: diagonals and triangles.
#include "kernels/carrier.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// The diagonal of two axes goes to the end: their product axis, every (columns + 1)-th element.
V diagonal(Lower& on, V x, Dim offset, int64_t d1, int64_t d2) {
  const int64_t a = on.axis(x, d1), b = on.axis(x, d2);
  Ints perm;
  for (const int64_t i : on.all_axes(x))
    if (i != a && i != b) perm.push_back(i);
  perm.push_back(a), perm.push_back(b);
  x = on.transpose(x, perm);
  const Dim rows = on.dim(x, -2), columns = on.dim(x, -1), up = max(offset, Dim(0)), down = max(-offset, Dim(0));
  const Dim length = max(Dim(0), min(rows - down, columns - up));
  Dims flat(on.shape(x).begin(), on.shape(x).end() - 2);
  flat.push_back(rows * columns);
  const V row = on.reshape(x, flat);
  const Dim start = up + down * columns;
  const V step = on.int_scalar(columns + Dim(1));
  const V at = on.Add(on.Mul(on.Range(on.On::int_scalar(0), on.int_scalar(length), on.On::int_scalar(1)), step),
                      on.int_scalar(start));
  const V y = on.Gather(row, at, {.axis = on.rank(row) - 1});
  on.graph().fact(y).type.shape->back() = length;
  return y;
}

V diag_embed(Lower& on, V x, Dim offset, int64_t d1, int64_t d2) {
  const Dim up = max(offset, Dim(0)), down = max(-offset, Dim(0)), n = on.dim(x, -1) + up + down;
  // A column of zeros is added, then shifted rows: x * (row index + offset == column index).
  const V range = on.Range(on.On::int_scalar(0), on.int_scalar(n), on.On::int_scalar(1));
  const V rows = on.unsqueeze(range, {1});
  const V hit = on.Equal(on.Add(rows, on.int_scalar(offset)), on.unsqueeze(range, {0}));
  Dims pads(static_cast<size_t>(on.rank(x)) * 2, Dim(0));
  pads.back() = up;
  pads[static_cast<size_t>(on.rank(x)) - 1] = down;
  const V wide = offset.is(0) ? x : V(on.Pad(x, on.int_vector(pads)));
  const V y = on.Where(hit, on.unsqueeze(wide, {on.rank(x)}), on.number(0, on.dtype(x)));
  const int64_t r = on.rank(x) + 1;
  return moved(on, y, {r - 2, r - 1}, {d1, d2});
}

V diag(Lower& on, V x, Dim k) { return on.rank(x) == 1 ? diag_embed(on, x, k, 0, 1) : diagonal(on, x, k, 0, 1); }

// Rows and columns of the elements on one side of a diagonal.
V triangle_places(Lower& on, Dim all_rows, Dim all_columns, Dim diagonal, const Opt<DType>& t, bool upper) {
  if (!all_rows.is_literal() || !all_columns.is_literal() || !diagonal.is_literal()) {
    const V ones = on.full({all_rows, all_columns}, Num(int64_t{1}), DType::i32);
    return on.to(on.NonZero(on.Trilu(ones, on.int_scalar(diagonal), {.upper = upper})), t.value_or(DType::i64));
  }
  const int64_t rows = all_rows.literal(), columns = all_columns.literal(), offset = diagonal.literal();
  constexpr int64_t most = 1 << 26;  // places that are looked at
  if (rows < 0 || columns < 0 || (columns > 0 && rows > most / columns))
    unsupported(cat("the places of a triangle of ", rows, " rows and ", columns, " columns"));
  std::vector<double> at;
  for (const bool row : {true, false})
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        if (upper ? c - r >= offset : c - r <= offset) at.push_back(static_cast<double>(row ? r : c));
  return on.constant(store(t.value_or(DType::i64), {2, static_cast<int64_t>(at.size() / 2)}, at));
}

V triangle(Lower& on, V x, Dim k, bool upper) {
  const DType t = on.dtype(x);
  // ONNX Runtime has no kernel for bools and short ints.
  const bool is_short = on.is_bool(x) || t == DType::i8 || t == DType::i16 || t == DType::u8;
  return on.to(on.Trilu(is_short ? on.to(x, DType::i32) : x, on.int_scalar(k), {.upper = upper}), t);
}

constexpr Row table[] = {
    {"aten::diag", fn<diag>},
    {"aten::diag_embed", fn<diag_embed>},
    {"aten::diagflat",
     [](Lower& on, V x, Dim k) { return diag_embed(on, on.reshape(x, {element_count(on.shape(x))}), k, 0, 1); }},
    {"aten::diagonal", fn<diagonal>},
    {"aten::diagonal_copy", fn<diagonal>},
    {"aten::trace",
     [](Lower& on, V x) {
       const V d = diagonal(on, x, Dim(0), 0, 1);
       return reduce(on, Reduce::sum, on.is_float(d) ? d : on.to(d, DType::i64), {0}, false);
     }},
    {"aten::tril", [](Lower& on, V x, Dim k) { return triangle(on, x, k, false); }},
    {"aten::triu", [](Lower& on, V x, Dim k) { return triangle(on, x, k, true); }},
    {"aten::tril_indices",
     [](Lower& on, Dim r, Dim c, Dim k, Opt<DType> t) { return triangle_places(on, r, c, k, t, false); }},
    {"aten::triu_indices",
     [](Lower& on, Dim r, Dim c, Dim k, Opt<DType> t) { return triangle_places(on, r, c, k, t, true); }},
    {"aten::linalg_diagonal", fn<diagonal>},
};

}  // namespace

std::span<const Row> torch_other_diagonals_rows() { return table; }

}  // namespace cameo::lowering
