// torch, Other Operations: histograms, bins, searches in sorted data.
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V one_dim(Lower& on, V scalar) { return on.unsqueeze(scalar, {0}); }

// The bin of each number; the last one includes its right end.
V bin_of(Lower& on, V x, V edges) {
  const V at = reduce(on, Reduce::sum, on.to(on.LessOrEqual(edges, on.unsqueeze(x, {1})), DType::i64), {1}, false);
  const V last = on.int_scalar(on.dim(edges, 0) - Dim(1));
  const V right = on.Equal(x, on.gather_scalar(edges, 0, on.dim(edges, 0) - Dim(1)));
  return on.Sub(on.Where(right, last, at), on.On::int_scalar(1));
}

V even_edges(Lower& on, V low, V high, int64_t bins) {
  const V same = on.Equal(low, high), half = on.number_like(0.5, low);
  const V lo = on.Where(same, on.Sub(low, half), low), hi = on.Where(same, on.Add(high, half), high);
  const V step = on.Div(on.Sub(hi, lo), on.number_like(static_cast<double>(bins), low));
  const V inner = on.Add(lo, on.Mul(on.to(iota(on, Dim(bins)), on.dtype(low)), step));
  return on.concat({inner, one_dim(on, hi)}, 0);
}

V edges_along(Lower& on, V x, int64_t bins, const Opt<Floats>& range, size_t dim) {
  if (range && range->size() >= 2 * dim + 2)
    return even_edges(on, on.number_like((*range)[2 * dim], x), on.number_like((*range)[2 * dim + 1], x), bins);
  return even_edges(on, reduce(on, Reduce::min, x, {0}, false), reduce(on, Reduce::max, x, {0}, false), bins);
}

// Rows of x counted into a grid of cells.
V counted(Lower& on, V x, const Vs& edges, const Opt<V>& weight, bool density) {
  Dims grid;
  V cell = on.On::int_scalar(0), inside;
  for (size_t i = 0; i < edges.size(); ++i) {
    const V column = on.gather_scalar(x, 1, Dim(static_cast<int64_t>(i))), bin = bin_of(on, column, edges[i]);
    const Dim n = on.dim(edges[i], 0) - Dim(1);
    const V within = on.And(on.GreaterOrEqual(bin, on.On::int_scalar(0)), on.Less(bin, on.int_scalar(n)));
    inside = inside.valid() ? V(on.And(inside, within)) : within;
    cell = on.Add(on.Mul(cell, on.int_scalar(n)), bin);
    grid.push_back(n);
  }
  const V amount = weight ? flat(on, *weight) : on.full({on.dim(x, 0)}, Num(1.0), on.dtype(x)),
          zero = on.number_like(0, x);
  const V places = on.Where(inside, cell, on.On::int_scalar(0)), amounts = on.Where(inside, amount, zero);
  V y = on.reshape(on.ScatterElements(on.full({element_count(grid)}, Num(0.0), on.dtype(x)), places, amounts,
                                      {.axis = 0, .reduction = "add"}),
                   grid);
  if (!density) return y;
  y = on.Div(y, reduce(on, Reduce::sum, y, on.all_axes(y), false));
  for (size_t i = 0; i < edges.size(); ++i) {
    const Dim n = on.dim(edges[i], 0);
    const V widths = on.Sub(on.slice(edges[i], 0, Dim(1), n), on.slice(edges[i], 0, Dim(0), n - Dim(1)));
    y = on.Div(y, reach(on, widths, static_cast<int64_t>(i), static_cast<int64_t>(edges.size())));
  }
  return y;
}

V as_rows(Lower& on, V x) { return on.reshape(x, {element_count(on.shape(x)), Dim(1)}); }

std::tuple<V, V> histogram(Lower& on, V x, int64_t bins, Opt<Floats> range, Opt<V> weight, bool density) {
  const V edges = edges_along(on, flat(on, x), bins, range, 0);
  return {counted(on, as_rows(on, x), {edges}, weight, density), edges};
}

std::tuple<V, Vs> histogram_grid(Lower& on, V x, const Ints& bins, const Opt<Floats>& range, const Opt<V>& weight,
                                 bool density) {
  const Dim columns = on.dim(x, -1);
  const V rows = on.reshape(x, {floor_div(element_count(on.shape(x)), columns), columns});
  Vs edges;
  for (size_t i = 0; i < bins.size(); ++i)
    edges.push_back(edges_along(on, on.gather_scalar(rows, 1, Dim(static_cast<int64_t>(i))), bins[i], range, i));
  return {counted(on, rows, edges, weight, density), edges};
}

// How many of the sorted numbers come before x.
V search(Lower& on, V sorted, V x, bool right, bool narrow) {
  const int64_t rank = on.rank(x);
  if (on.rank(sorted) > 1) sorted = on.unsqueeze(sorted, {on.rank(sorted) - 1});
  const V value = on.unsqueeze(x, {rank});
  const V before = right ? on.LessOrEqual(sorted, value) : on.Less(sorted, value);
  return reduce(on, Reduce::sum, on.to(before, narrow ? DType::i32 : DType::i64), {rank}, false);
}

V search_sorted(Lower& on, V sorted, V x, bool narrow, bool right, Opt<Str> side, Opt<V> sorter) {
  if (sorter) sorted = on.GatherElements(sorted, *sorter, {.axis = on.rank(sorted) - 1});
  return search(on, sorted, x, right || side == "right", narrow);
}

V bin_count(Lower& on, V x, Opt<V> weights, Dim min_length) {
  const V top = on.Add(reduce(on, Reduce::max, on.to(x, DType::i64), {0}, false), on.On::int_scalar(1));
  const Dim n = on.int_of(on.Max(std::vector<ValueId>{top, on.int_scalar(min_length)}));
  const DType t = !weights ? DType::i64 : on.dtype(*weights) == DType::f32 ? DType::f32 : DType::f64;
  const V amounts = weights ? on.to(*weights, t) : on.full(on.shape(x), Num(int64_t{1}), t);
  return on.ScatterElements(on.full({n}, Num(int64_t{0}), t), on.to(x, DType::i64), amounts,
                            {.axis = 0, .reduction = "add"});
}

V histc(Lower& on, V x, int64_t bins, Num low, Num high) {
  x = flat(on, x);
  V lo = on.scalar_like(low, x), hi = on.scalar_like(high, x);
  if (low.to_double() == high.to_double()) {
    lo = reduce(on, Reduce::min, x, {0}, false), hi = reduce(on, Reduce::max, x, {0}, false);
    const V same = on.Equal(lo, hi), one = on.number_like(1, x);
    lo = on.Where(same, on.Sub(lo, one), lo), hi = on.Where(same, on.Add(hi, one), hi);
  }
  const V inside = on.And(on.GreaterOrEqual(x, lo), on.LessOrEqual(x, hi));
  const V place = on.Mul(on.Div(on.Sub(x, lo), on.Sub(hi, lo)), on.number_like(static_cast<double>(bins), x));
  const V bin = on.Clip(on.to(on.Where(inside, place, on.number_like(0, x)), DType::i64), on.On::int_scalar(0),
                        on.On::int_scalar(bins - 1));
  return on.ScatterElements(on.full({Dim(bins)}, Num(int64_t{0}), on.dtype(x)), bin, on.to(inside, on.dtype(x)),
                            {.axis = 0, .reduction = "add"});
}

constexpr Row table[] = {
    {"aten::bincount", fn<bin_count>},
    {"aten::bucketize.Tensor",
     [](Lower& on, V x, V sorted, bool narrow, bool right) { return search(on, sorted, x, right, narrow); },
     promote(0, 1)},
    {"aten::bucketize.Scalar",
     [](Lower& on, V x, V sorted, bool narrow, bool right) { return search(on, sorted, x, right, narrow); },
     promote(0, 1)},
    {"aten::histc", fn<histc>},
    {"aten::histogram.bin_ct", fn<histogram>},
    {"aten::histogram.bins_tensor",
     [](Lower& on, V x, V edges, Opt<V> weight, bool density) {
       return std::tuple<V, V>{counted(on, as_rows(on, x), {edges}, weight, density), edges};
     }},
    {"aten::histogramdd", [](Lower& on, V x, Ints bins, Opt<Floats> range, Opt<V> weight,
                             bool density) { return histogram_grid(on, x, bins, range, weight, density); }},
    {"aten::histogramdd.int_bins",
     [](Lower& on, V x, int64_t bins, Opt<Floats> range, Opt<V> weight, bool density) {
       return histogram_grid(on, x, Ints(static_cast<size_t>(known_size(on, x, -1, "histogramdd")), bins), range,
                             weight, density);
     }},
    {"aten::histogramdd.TensorList_bins",
     [](Lower& on, V x, Vs edges, Opt<Floats>, Opt<V> weight, bool density) {
       const Dim columns = on.dim(x, -1);
       return std::tuple<V, Vs>{counted(on, on.reshape(x, {floor_div(element_count(on.shape(x)), columns), columns}),
                                        edges, weight, density),
                                edges};
     }},
    // What is left of it in decomposed programs: the edges, and the counts between them.
    {"aten::_histogramdd_bin_edges",
     [](Lower& on, V x, Ints bins, Opt<Floats> range, Opt<V> weight, bool density) {
       return std::get<1>(histogram_grid(on, x, bins, range, weight, density));
     }},
    {"aten::_histogramdd_from_bin_cts",
     [](Lower& on, V x, Ints bins, Opt<Floats> range, Opt<V> weight, bool density) {
       return std::get<0>(histogram_grid(on, x, bins, range, weight, density));
     }},
    {"aten::_histogramdd_from_bin_tensors",
     [](Lower& on, V x, Vs edges, Opt<V> weight, bool density) {
       const Dim columns = on.dim(x, -1);
       return counted(on, on.reshape(x, {floor_div(element_count(on.shape(x)), columns), columns}), edges, weight,
                      density);
     }},
    {"aten::searchsorted.Tensor", fn<search_sorted>, promote(0, 1)},
    {"aten::searchsorted.Scalar", fn<search_sorted>, promote(0, 1)},
};

}  // namespace

std::span<const Row> torch_other_histograms_rows() { return table; }

}  // namespace cameo::lowering
