// Views by strides, forms that copy what a view would show, and writing through flat positions.
#include <algorithm>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V strided_positions(Lower& on, const Dims& sizes, const Dims& strides, Dim offset) {
  if (sizes.size() != strides.size()) unsupported(cat(sizes.size(), " sizes with ", strides.size(), " strides"));
  V at = on.int_scalar(offset);
  const auto rank = static_cast<int64_t>(sizes.size());
  for (int64_t i = 0; i < rank; ++i) {
    const auto k = static_cast<size_t>(i);
    at = on.Add(at, reach(on, on.Mul(iota(on, sizes[k]), on.int_scalar(strides[k])), i, rank));
  }
  return at;
}
// The operand is memory in its order: staging sees to that.
V as_strided(Lower& on, V x, Dims sizes, Dims strides, Opt<Dim> offset) {
  return on.Gather(flat(on, x), strided_positions(on, sizes, strides, offset.value_or(Dim(0))), {.axis = 0});
}
V flat_put(Lower& on, V x, V at, V values, const Str& how) {
  return on.reshape(on.ScatterElements(flat(on, x), flat(on, at), flat(on, values), {.axis = 0, .reduction = how}),
                    on.shape(x));
}

V diagonal_put(Lower& on, V x, V src, int64_t offset, int64_t d1, int64_t d2) {
  on.need_rank(x, 2, "a diagonal");
  on.need_rank(src, 1, "a diagonal");
  const V y = moved(on, x, {d1, d2}, {-2, -1});
  const Dims shape = on.shape(y);
  const Dim columns = shape.back(), length = on.dim(src, -1);
  Dims rows(shape.begin(), shape.end() - 2);
  rows.push_back(shape[shape.size() - 2] * columns);
  const Dim start = offset >= 0 ? Dim(offset) : Dim(-offset) * columns;
  const V at = strided_positions(on, {length}, {columns + Dim(1)}, start);
  const V put =
      on.ScatterND(moved(on, on.reshape(y, rows), {-1}, {0}), on.unsqueeze(at, {1}), moved(on, src, {-1}, {0}));
  return moved(on, on.reshape(moved(on, put, {0}, {-1}), shape), {-2, -1}, {d1, d2});
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

// Each tensor cut into `count` equal pieces along an axis, the last ones filled up with zeros; piece by piece side by
// side.
V chunk_cat(Lower& on, Vs parts, int64_t dim, int64_t count) {
  const int64_t axis = on.axis(parts[0], dim);
  for (V& v : parts) {
    const Dim size = on.dim(v, axis), whole = ceil_div(size, Dim(count)) * Dim(count);
    Dims pads(static_cast<size_t>(on.rank(v)) * 2, Dim(0));
    pads[static_cast<size_t>(on.rank(v) + axis)] = whole - size;
    const Dims s = on.shape(v);
    Dims out(s.begin(), s.begin() + axis);
    const Dims tail(s.begin() + axis + 1, s.end());
    out.insert(out.end(), {Dim(count), floor_div(whole, Dim(count)) * element_count(tail)});
    v = on.reshape(whole == size ? v : V(on.Pad(v, on.int_vector(pads))), out);
  }
  return on.concat(parts, axis + 1);
}

constexpr Row table[] = {
    {"aten::as_strided", fn<as_strided>},
    {"aten::as_strided_copy", fn<as_strided>},
    {"aten::as_strided_scatter",
     [](Lower& on, V x, V src, Dims sizes, Dims strides, Opt<Dim> offset) {
       return flat_put(on, x, strided_positions(on, sizes, strides, offset.value_or(Dim(0))), src, "none");
     }},
    {"aten::put", [](Lower& on, V x, V at, V src,
                     bool accumulate) { return flat_put(on, x, at, src, accumulate ? "add" : "none"); }},
    {"aten::narrow_copy", fn<narrowed>},
    {"aten::narrow.Tensor",
     [](Lower& on, V x, int64_t dim, V start, Dim length) { return narrowed(on, x, dim, on.int_of(start), length); }},
    {"aten::fill_diagonal_", fn<fill_diagonal>},
    {"aten::diagonal_scatter", fn<diagonal_put>},
    {"aten::masked_scatter", fn<masked_scatter>},
    {"aten::_chunk_cat", fn<chunk_cat>},
};

}  // namespace

std::span<const Row> strided_rows() { return table; }

}  // namespace cameo::lowering
