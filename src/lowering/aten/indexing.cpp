// Reading and writing by index tensors and masks.
#include <algorithm>
#include <limits>
#include <numeric>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// x[..., i, ..., j, ...]: which axes are indexed, by which tensors (masks turned into positions).
struct Indices {
  Ints axes;
  Vs tensors;
  bool consecutive = true;
};

Vs positions(Lower& on, V mask) {
  const int64_t r = on.rank(mask);
  const V all = on.NonZero(mask);  // [rank, count]
  Vs out;
  for (int64_t i = 0; i < r; ++i) out.push_back(on.gather_scalar(all, 0, Dim(i)));
  return out;
}

Indices analyse(Lower& on, const std::vector<Opt<V>>& list) {
  Indices out;
  int64_t axis = 0, last = -1;
  for (const auto& entry : list) {
    if (!entry) {
      ++axis;
      continue;
    }
    const bool mask = on.is_bool(*entry) || on.dtype(*entry) == DType::u8;
    const Vs parts = mask ? positions(on, on.to(*entry, DType::boolean)) : Vs{on.to(*entry, DType::i64)};
    for (const V p : parts) {
      if (last >= 0 && axis != last + 1) out.consecutive = false;
      last = axis;
      out.axes.push_back(axis++);
      out.tensors.push_back(p);
    }
  }
  return out;
}

Ints indexed_first(Lower& on, V x, const Ints& axes) {
  Ints perm = axes;
  for (const int64_t a : on.all_axes(x))
    if (std::find(axes.begin(), axes.end(), a) == axes.end()) perm.push_back(a);
  return perm;
}

// The index tensors broadcast together and stacked along a new last axis, as GatherND and ScatterND want them.
V stacked(Lower& on, const Vs& tensors) {
  Dims shape = on.shape(tensors[0]);
  for (const V t : tensors) {
    Dims other = on.shape(t);
    if (other.size() > shape.size()) std::swap(other, shape);
    for (size_t i = 0; i < other.size(); ++i) {
      Dim& d = shape[shape.size() - other.size() + i];
      d = broadcast(d, other[i]);
    }
  }
  Vs parts;
  for (const V t : tensors) parts.push_back(on.unsqueeze(on.expand(t, shape), {static_cast<int64_t>(shape.size())}));
  return on.concat(parts, static_cast<int64_t>(shape.size()));
}

V index(Lower& on, V x, std::vector<Opt<V>> list) {
  const Indices ix = analyse(on, list);
  if (ix.axes.empty()) return x;
  if (ix.axes.size() == 1) return on.Gather(x, ix.tensors[0], {.axis = ix.axes[0]});
  const V at = stacked(on, ix.tensors);
  const V y = on.GatherND(on.transpose(x, indexed_first(on, x, ix.axes)), at);
  if (!ix.consecutive || ix.axes[0] == 0) return y;
  // The indexed part goes back to where the first indexed axis was.
  const int64_t front = on.rank(at) - 1, before = ix.axes[0];
  Ints perm;
  for (int64_t i = 0; i < before; ++i) perm.push_back(front + i);
  for (int64_t i = 0; i < front; ++i) perm.push_back(i);
  for (int64_t i = front + before; i < on.rank(y); ++i) perm.push_back(i);
  return on.transpose(y, perm);
}

V index_put(Lower& on, V x, std::vector<Opt<V>> list, V values, bool accumulate) {
  values = on.to(values, on.dtype(x));
  if (list.size() == 1 && list[0] && on.is_bool(*list[0]) && !accumulate && on.rank(values) == 0) {
    Ints tail;
    for (int64_t i = on.rank(*list[0]); i < on.rank(x); ++i) tail.push_back(i);
    return on.Where(on.unsqueeze(*list[0], tail), values, x);
  }
  const Indices ix = analyse(on, list);
  if (ix.axes.empty()) return on.expand(values, on.shape(x));
  const V at = ix.tensors.size() == 1 ? on.unsqueeze(ix.tensors[0], {on.rank(ix.tensors[0])}) : stacked(on, ix.tensors);
  const Ints perm = indexed_first(on, x, ix.axes);
  const V moved = on.transpose(x, perm);
  const int64_t front = on.rank(at) - 1, before = ix.consecutive ? ix.axes[0] : 0;
  // Values come in the shape that reading gives: the rest before the index, the index, the rest after.
  Dims sizes;
  const auto indexed = static_cast<int64_t>(ix.axes.size());
  for (int64_t i = 0; i < before; ++i) sizes.push_back(on.dim(moved, indexed + i));
  for (int64_t i = 0; i < front; ++i) sizes.push_back(on.dim(at, i));
  for (int64_t i = indexed + before; i < on.rank(moved); ++i) sizes.push_back(on.dim(moved, i));
  V updates = on.expand(values, sizes);
  Ints order;
  for (int64_t i = 0; i < front; ++i) order.push_back(before + i);
  for (int64_t i = 0; i < before; ++i) order.push_back(i);
  for (int64_t i = front + before; i < on.rank(updates); ++i) order.push_back(i);
  updates = on.transpose(updates, order);
  const V put = on.ScatterND(moved, at, updates, {.reduction = accumulate ? "add" : "none"});
  Ints back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  return on.transpose(put, back);
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

// 0-d tensors have no axes: rows of no numbers, as many as are not zero.
V nonzero(Lower& on, V x) {
  const V rows = on.transpose(on.NonZero(at_least_1d(on, x)), {1, 0});
  return on.rank(x) == 0 ? on.slice(rows, 1, Dim(0), Dim(0)) : rows;
}
Vs nonzero_parts(Lower& on, V x) { return positions(on, at_least_1d(on, x)); }
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

// Places outside the tensor are only named where the mask is off.
std::vector<Opt<V>> clamped(Lower& on, V x, std::vector<Opt<V>> list) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i]) {
      const Dim size = on.dim(x, static_cast<int64_t>(i));
      const V low = on.int_scalar(-size), high = on.int_scalar(size - Dim(1));
      list[i] = V(on.Min(std::vector<ValueId>{on.Max(std::vector<ValueId>{on.to(*list[i], DType::i64), low}), high}));
    }
  return list;
}

constexpr Row table[] = {
    {"aten::index.Tensor", fn<index>},
    {"aten::index.Tensor_hacked_twin", fn<index>},
    {"aten::_unsafe_index.Tensor", fn<index>},
    {"aten::index_put", fn<index_put>},
    {"aten::index_put.hacked_twin", fn<index_put>},
    {"aten::_unsafe_index_put", fn<index_put>},
    {"aten::gather", fn<gather>},
    {"aten::scatter.src",
     [](Lower& on, V x, int64_t dim, V at, V src) { return scatter(on, x, dim, at, src, "none"); }},
    {"aten::scatter.value",
     [](Lower& on, V x, int64_t dim, V at, Num v) { return scatter(on, x, dim, at, on.scalar_like(v, x), "none"); }},
    {"aten::scatter_add", [](Lower& on, V x, int64_t dim, V at, V src) { return scatter(on, x, dim, at, src, "add"); }},
    {"aten::index_select", fn<index_select>},
    {"aten::masked_select", fn<masked_select>},
    {"aten::nonzero", fn<nonzero>},
    {"aten::nonzero_numpy", fn<nonzero_parts>},
    {"aten::where", fn<nonzero_parts>},
    {"aten::nonzero_static", fn<nonzero_static>},
    {"aten::scatter.reduce", [](Lower& on, V x, int64_t dim, V at, V src,
                                Str how) { return scatter(on, x, dim, at, src, how == "add" ? "add" : "mul"); }},
    {"aten::scatter.value_reduce",
     [](Lower& on, V x, int64_t dim, V at, Num v, Str how) {
       return scatter(on, x, dim, at, on.scalar_like(v, x), how == "add" ? "add" : "mul");
     }},
    {"aten::scatter_reduce.two", fn<scatter_reduce>},
    {"aten::index_reduce", fn<index_reduce>},
    {"aten::_unsafe_masked_index",
     [](Lower& on, V x, V mask, std::vector<Opt<V>> list, Num fill) {
       return V(on.Where(mask, index(on, x, clamped(on, x, list)), on.scalar_like(fill, x)));
     }},
    {"aten::_unsafe_masked_index_put_accumulate",
     [](Lower& on, V x, V mask, std::vector<Opt<V>> list, V values) {
       return index_put(on, x, clamped(on, x, list), on.Where(mask, values, on.number_like(0, values)), true);
     }},
    {"aten::take_along_dim", fn<take_along>},
};

}  // namespace

std::span<const Row> indexing_rows() { return table; }

}  // namespace cameo::lowering
