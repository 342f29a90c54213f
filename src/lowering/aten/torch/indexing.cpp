// torch, Indexing, Slicing, Joining, Mutating Ops: reading and writing by index tensors and masks.
#include "lowering/aten/torch/indexing.h"

#include <algorithm>
#include <limits>

#include "lowering/arithmetic.h"
#include "lowering/axes.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V select_put(Lower& on, V x, V src, int64_t dim, Dim index) { return put_index(on, x, on.axis(x, dim), index, src); }

V slice_put(Lower& on, V x, V src, int64_t dim, Opt<Dim> start, Opt<Dim> end, int64_t step) {
  const int64_t axis = on.axis(x, dim);
  const Span s = clamp_span(on, on.dim(x, axis), start, end);
  return put_slice(on, x, axis, s.start, s.end, step, on.expand(src, [&] {
    Dims d = on.shape(x);
    d[static_cast<size_t>(axis)] = ceil_div(s.end - s.start, Dim(step));
    return d;
  }()));
}

constexpr double infinity = std::numeric_limits<double>::infinity();

// Rows of consecutive groups, along the first axis.
V segments(Lower& on, V x, Str how, Opt<V> lengths, Opt<V>, Opt<V> offsets, int64_t axis, bool, Opt<Num> initial) {
  if (axis != 0 || (lengths && on.rank(*lengths) != 1) || (offsets && on.rank(*offsets) != 1))
    unsupported("segment_reduce along another axis than the first");
  if (!lengths && !offsets) unsupported("segment_reduce by indices");
  V start, end;
  if (lengths) {
    end = on.CumSum(on.to(*lengths, DType::i64), on.On::int_scalar(0));
    start = on.Sub(end, on.to(*lengths, DType::i64));
  } else {
    const V o = on.to(*offsets, DType::i64);
    start = on.slice(o, 0, Dim(0), on.dim(o, 0) - Dim(1)), end = on.slice(o, 0, Dim(1), on.dim(o, 0));
  }
  const V place = on.unsqueeze(iota(on, on.dim(x, 0)), {0});
  V mine = on.And(on.GreaterOrEqual(place, on.unsqueeze(start, {1})), on.Less(place, on.unsqueeze(end, {1})));
  V count = on.to(on.Sub(end, start), on.dtype(x));
  for (int64_t i = 1; i < on.rank(x); ++i) mine = on.unsqueeze(mine, {i + 1}), count = on.unsqueeze(count, {i});
  const double neutral = how == "max" ? -infinity : how == "min" ? infinity : how == "prod" ? 1 : 0;
  const V values = on.Where(mine, on.unsqueeze(x, {0}), on.number_like(neutral, x));
  V y = reduce(on,
               how == "max"    ? Reduce::max
               : how == "min"  ? Reduce::min
               : how == "prod" ? Reduce::prod
                               : Reduce::sum,
               values, {1}, false);
  if (initial) {
    const V first = on.scalar_like(*initial, x);
    y = how == "max"    ? V(on.Max(std::vector<ValueId>{y, first}))
        : how == "min"  ? V(on.Min(std::vector<ValueId>{y, first}))
        : how == "prod" ? V(on.Mul(y, first))
                        : V(on.Add(y, first));
  }
  if (how != "mean") return y;
  const V none = on.Equal(count, on.number_like(0, x));
  return initial ? V(on.Where(none, y, on.Div(y, on.Where(none, on.number_like(1, x), count)))) : V(on.Div(y, count));
}

V at_least_1d(Lower& on, V x) { return on.rank(x) == 0 ? on.unsqueeze(x, {0}) : x; }

V gather(Lower& on, V x, int64_t dim, V at) {
  if (on.rank(x) == 0)
    return on.squeeze(on.GatherElements(at_least_1d(on, x), at_least_1d(on, at), {.axis = 0}),
                      on.rank(at) == 0 ? Ints{0} : Ints{});
  return on.GatherElements(x, on.to(at, DType::i64), {.axis = on.axis(x, dim)});
}

V scatter(Lower& on, V x, int64_t dim, V at, V src, const Str& reduction) {
  src = on.to(src, on.dtype(x));
  if (on.rank(src) == 0 && on.rank(at) > 0) src = on.expand(src, on.shape(at));
  const bool scalar = on.rank(x) == 0;
  // torch reads the part of src that the index covers.
  if (on.shape(src) != on.shape(at))
    for (int64_t i = 0; i < on.rank(at); ++i) src = on.slice(src, i, Dim(0), on.dim(at, i));
  const V y = on.ScatterElements(at_least_1d(on, x), at_least_1d(on, at), at_least_1d(on, src),
                                 {.axis = on.axis(x, dim), .reduction = reduction});
  return scalar ? on.squeeze(y, {0}) : y;
}

V index_select(Lower& on, V x, int64_t dim, V at) {
  if (on.rank(x) == 0) return x;
  return on.Gather(x, at_least_1d(on, at), {.axis = on.axis(x, dim)});
}

V masked_select(Lower& on, V x, V mask) {
  Dims shape = on.shape(on.rank(x) >= on.rank(mask) ? x : mask);
  const Dims& other = on.shape(on.rank(x) >= on.rank(mask) ? mask : x);
  for (size_t i = 0; i < other.size(); ++i)
    shape[shape.size() - other.size() + i] = broadcast(shape[shape.size() - other.size() + i], other[i]);
  const V flat = on.reshape(on.expand(x, shape), {element_count(shape)});
  return on.Compress(flat, on.reshape(on.expand(mask, shape), {element_count(shape)}), {.axis = 0});
}

// scatter_reduce: places that are written forget their own value first when it must not count.
V scatter_reduce(Lower& on, V x, int64_t dim, V at, V src, const Str& how, bool include_self) {
  const bool scalar = on.rank(x) == 0;
  const int64_t axis = on.axis(x, dim);
  x = at_least_1d(on, x), at = on.to(at_least_1d(on, at), DType::i64), src = at_least_1d(on, src);
  if (on.shape(src) != on.shape(at))
    for (int64_t i = 0; i < on.rank(at); ++i) src = on.slice(src, i, Dim(0), on.dim(at, i));
  const bool mean = how == "mean";
  static constexpr std::tuple<std::string_view, std::string_view, double> kinds[] = {
      {"sum", "add", 0},
      {"mean", "add", 0},
      {"prod", "mul", 1},
      {"amax", "max", -std::numeric_limits<double>::infinity()},
      {"amin", "min", std::numeric_limits<double>::infinity()}};
  const auto* kind =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& k) { return std::get<0>(k) == how; });
  if (kind == std::end(kinds)) unsupported(cat("scatter_reduce with ", how));
  const V zeros = on.full(on.shape(x), Num(int64_t{0}), on.dtype(x)), one = on.number_like(1, x);
  V count;
  if (mean || !include_self)
    count = on.ScatterElements(zeros, at, on.expand(one, on.shape(at)), {.axis = axis, .reduction = "add"});
  if (!include_self) {
    if (!on.is_float(x) && std::get<2>(*kind) != 0 && std::get<2>(*kind) != 1)
      unsupported("an extremum of scattered integers without the tensor's own values");
    x = on.Where(on.Greater(count, on.number_like(0, x)), on.number_like(std::get<2>(*kind), x), x);
  }
  V y = on.ScatterElements(x, at, src, {.axis = axis, .reduction = std::string(std::get<1>(*kind))});
  if (mean) {
    const V all = include_self ? on.Add(count, one) : on.Max(std::vector<ValueId>{count, one});
    y = on.is_float(y) ? V(on.Div(y, all)) : V(on.Div(on.Sub(y, on.Mod(y, all)), all));
  }
  return scalar ? on.squeeze(y, {0}) : y;
}

V index_reduce(Lower& on, V x, int64_t dim, V at, V src, Str how, bool include_self) {
  if (on.rank(x) == 0) return scatter_reduce(on, x, 0, at, src, how, include_self);
  const int64_t axis = on.axis(x, dim);
  return scatter_reduce(on, x, dim, on.expand(reach(on, at_least_1d(on, at), axis, on.rank(x)), on.shape(src)), src,
                        how, include_self);
}

// ONNX Runtime looks for what is not zero among these types only.
V for_nonzero(Lower& on, V x) {
  static constexpr DType types[] = {DType::boolean, DType::f32, DType::i32, DType::i64, DType::u8};
  const bool fits = std::find(std::begin(types), std::end(types), on.dtype(x)) != std::end(types);
  return fits ? x : on.to(x, DType::boolean);
}

// 0-d tensors have no axes: rows of no numbers, as many as are not zero.
V nonzero(Lower& on, V x) {
  const V rows = on.transpose(on.NonZero(for_nonzero(on, at_least_1d(on, x))), {1, 0});
  return on.rank(x) == 0 ? on.slice(rows, 1, Dim(0), Dim(0)) : rows;
}

Vs nonzero_parts(Lower& on, V x) { return nonzero_positions(on, for_nonzero(on, at_least_1d(on, x))); }

V nonzero_static(Lower& on, V x, Dim size, int64_t fill) {
  const V rows = nonzero(on, x);
  const V all =
      on.Concat(std::vector<ValueId>{rows, on.full({size, Dim(on.rank(x))}, Num(fill), DType::i64)}, {.axis = 0});
  const V y = on.Slice(all, on.ints({0}), on.int_vector(Dims{size}), on.ints({0}));
  on.graph().fact(y).type.shape = Dims{size, Dim(on.rank(x))};
  return y;
}

V take_along(Lower& on, V x, V at, Opt<int64_t> dim) {
  if (!dim) return gather(on, flat(on, x), 0, flat(on, at));
  const auto axis = static_cast<size_t>(on.axis(x, *dim));
  Dims sx = on.shape(x), sa = on.shape(at);
  const Dim own = sx[axis], taken = sa[axis];
  sx[axis] = sa[axis] = Dim(1);
  Dims both = broadcast_shapes(sx, sa), whole = both;
  both[axis] = own, whole[axis] = taken;
  return gather(on, on.expand(x, both), *dim, on.expand(at, whole));
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

constexpr Row table[] = {
    {"aten::argwhere",
     [](Lower& on, V x) {
       const V rows = on.transpose(on.NonZero(for_nonzero(on, at_least_rank(on, x, 1))), {1, 0});
       return on.rank(x) == 0 ? on.slice(rows, 1, Dim(0), Dim(0)) : rows;
     }},
    {"aten::gather", fn<gather>},
    {"aten::index_select", fn<index_select>},
    {"aten::masked_select", fn<masked_select>},
    {"aten::nonzero", fn<nonzero>},
    {"aten::nonzero_numpy", fn<nonzero_parts>},
    {"aten::nonzero_static", fn<nonzero_static>},
    {"aten::take",
     [](Lower& on, V x, V at) { return V(on.Gather(on.reshape(x, {element_count(on.shape(x))}), at, {.axis = 0})); }},
    {"aten::take_along_dim", fn<take_along>},
    {"aten::where", fn<nonzero_parts>},
    {"aten::where.self", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); }, promote(1, 2)},
    {"aten::where.ScalarOther", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); },
     promote(1, 2)},
    {"aten::where.ScalarSelf", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); },
     promote(1, 2)},
    {"aten::where.Scalar", [](Lower& on, V c, V a, V b) { return V(on.Where(as_bool(on, c), a, b)); }, promote(1, 2)},
    {"aten::index_add",
     [](Lower& on, V x, int64_t dim, V at, V src, Num alpha) {
       if (!alpha.is(1)) src = on.Mul(src, on.scalar_like(alpha, src));
       if (on.rank(x) == 0) return V(on.Add(x, on.reshape(src, {})));
       const int64_t axis = on.axis(x, dim);
       const V y = on.ScatterND(moved(on, x, {axis}, {0}), on.unsqueeze(at_least_rank(on, at, 1), {1}),
                                moved(on, src, {axis}, {0}), {.reduction = "add"});
       return moved(on, y, {0}, {axis});
     }},
    {"aten::index_copy",
     [](Lower& on, V x, int64_t dim, V at, V src) {
       if (on.rank(x) == 0) return on.reshape(src, {});
       const int64_t axis = on.axis(x, dim);
       const V y = on.ScatterND(moved(on, x, {axis}, {0}), on.unsqueeze(at_least_rank(on, at, 1), {1}),
                                moved(on, src, {axis}, {0}));
       return moved(on, y, {0}, {axis});
     }},
    {"aten::index_reduce", fn<index_reduce>},
    {"aten::scatter.src",
     [](Lower& on, V x, int64_t dim, V at, V src) { return scatter(on, x, dim, at, src, "none"); }},
    {"aten::scatter.value",
     [](Lower& on, V x, int64_t dim, V at, Num v) { return scatter(on, x, dim, at, on.scalar_like(v, x), "none"); }},
    {"aten::scatter.reduce", [](Lower& on, V x, int64_t dim, V at, V src,
                                Str how) { return scatter(on, x, dim, at, src, how == "add" ? "add" : "mul"); }},
    {"aten::scatter.value_reduce",
     [](Lower& on, V x, int64_t dim, V at, Num v, Str how) {
       return scatter(on, x, dim, at, on.scalar_like(v, x), how == "add" ? "add" : "mul");
     }},
    {"aten::scatter_add", [](Lower& on, V x, int64_t dim, V at, V src) { return scatter(on, x, dim, at, src, "add"); }},
    {"aten::scatter_reduce.two", fn<scatter_reduce>},
    {"aten::segment_reduce", fn<segments>},
    {"aten::diagonal_scatter", fn<diagonal_put>},
    {"aten::select_scatter", fn<select_put>},
    {"aten::slice_scatter", fn<slice_put>},
};

}  // namespace

Vs nonzero_positions(Lower& on, V mask) {
  const int64_t r = on.rank(mask);
  const V all = on.NonZero(mask);  // [rank, count]
  Vs out;
  for (int64_t i = 0; i < r; ++i) out.push_back(on.gather_scalar(all, 0, Dim(i)));
  return out;
}

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

V flat_put(Lower& on, V x, V at, V values, const Str& how) {
  return on.reshape(on.ScatterElements(flat(on, x), flat(on, at), flat(on, values), {.axis = 0, .reduction = how}),
                    on.shape(x));
}

std::span<const Row> torch_indexing_rows() { return table; }

}  // namespace cameo::lowering
