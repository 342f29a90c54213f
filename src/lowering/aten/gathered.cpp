// What is gathered by group: histograms, segments, gradients of pools, fractional pools.
#include <algorithm>
#include <limits>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
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

V pool_gradient(Lower& on, V grad, V x, Ints, Ints, Ints, Ints, bool, V at) {
  const int64_t lead = on.rank(x) - 2;
  const Dim rows = element_count(Dims(on.shape(x).begin(), on.shape(x).begin() + lead)),
            plane = on.dim(x, -2) * on.dim(x, -1), pooled = on.dim(grad, -2) * on.dim(grad, -1);
  const V blank = on.full({rows, plane}, Num(0.0), on.dtype(x));
  return on.reshape(on.ScatterElements(blank, on.reshape(at, {rows, pooled}), on.reshape(grad, {rows, pooled}),
                                       {.axis = 1, .reduction = "add"}),
                    on.shape(x));
}

// Where windows start: evenly, shifted by a random number per channel; the last one at the end.
V window_starts(Lower& on, V sample, int64_t in, int64_t out, int64_t kernel) {
  const V last = on.full({Dim(1)}, Num(in - kernel), DType::i64);
  Dims tail = on.shape(sample);
  tail.push_back(Dim(1));
  if (out == 1) return on.expand(last, tail);
  const double alpha = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
  const V u = on.unsqueeze(sample, {on.rank(sample)}), step = on.number_like(alpha, sample);
  const V i = on.to(iota(on, Dim(out - 1)), on.dtype(sample));
  const V first = on.to(on.Mul(u, step), DType::i64);
  return on.concat({on.Sub(on.to(on.Mul(on.Add(i, u), step), DType::i64), first), on.expand(last, tail)},
                   on.rank(sample));
}
template <int N>
std::tuple<V, V> fractional_pool(Lower& on, V x, Ints kernel, Ints sizes, V samples) {
  const bool single = on.rank(x) == N + 1;
  if (single) x = on.unsqueeze(x, {0});
  if (on.rank(x) != N + 2 || kernel.size() != N || sizes.size() != N)
    unsupported(cat("fractional pooling of a tensor with ", on.rank(x), " axes"));
  on.need_rank(samples, 3, "fractional pooling by the samples");
  Dims plane(on.shape(x).end() - N, on.shape(x).end());
  const Dim rows = on.dim(x, 0) * on.dim(x, 1), area = element_count(plane);
  V at = on.On::int_scalar(0);  // [rows, out..., kernel...] places in the plane
  for (int i = 0; i < N; ++i) {
    const int64_t in = known_size(on, x, 2 + i, "fractional pooling");
    // Random numbers come as (x, y), (t, y, x) of the last axes, the last axis first in 2-D.
    const int which = N == 2 ? 1 - i : i;
    const V u = on.reshape(on.gather_scalar(samples, 2, Dim(which)), {rows});
    V start = window_starts(on, u, in, sizes[static_cast<size_t>(i)], kernel[static_cast<size_t>(i)]);
    V place = on.Add(on.unsqueeze(start, {2}), iota(on, Dim(kernel[static_cast<size_t>(i)])));  // [rows, out, kernel]
    Ints spread;
    for (int64_t k = 1; k <= 2 * N; ++k)
      if (k != 1 + i && k != 1 + N + i) spread.push_back(k);
    at = on.Add(on.Mul(at, on.int_scalar(plane[static_cast<size_t>(i)])), on.unsqueeze(place, spread));
  }
  Dims out{rows};
  int64_t count = 1, inside = 1;
  for (int i = 0; i < N; ++i) count *= sizes[static_cast<size_t>(i)], inside *= kernel[static_cast<size_t>(i)];
  const V places = on.reshape(at, {rows, Dim(count), Dim(inside)});
  const V values = on.reshape(
      on.GatherElements(on.reshape(x, {rows, area}), on.reshape(places, {rows, Dim(count * inside)}), {.axis = 1}),
      {rows, Dim(count), Dim(inside)});
  const V best = on.ArgMax(values, {.axis = 2, .keepdims = 1});
  Dims shape{on.dim(x, 0), on.dim(x, 1)};
  for (const int64_t s : sizes) shape.push_back(Dim(s));
  if (single) shape.erase(shape.begin());
  return {on.reshape(reduce(on, Reduce::max, values, {2}, false), shape),
          on.reshape(on.GatherElements(places, best, {.axis = 2}), shape)};
}

constexpr Row table[] = {
    {"aten::histogram.bin_ct", fn<histogram>},
    {"aten::histogram.bins_tensor",
     [](Lower& on, V x, V edges, Opt<V> weight, bool density) {
       return std::tuple<V, V>{counted(on, as_rows(on, x), {edges}, weight, density), edges};
     }},
    {"aten::histogramdd", [](Lower& on, V x, Ints bins, Opt<Floats> range, Opt<V> weight,
                             bool density) { return histogram_grid(on, x, bins, range, weight, density); }},
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
    {"aten::segment_reduce", fn<segments>},
    {"aten::max_pool2d_with_indices_backward", fn<pool_gradient>},
    {"aten::fractional_max_pool2d", fn<fractional_pool<2>>},
    {"aten::fractional_max_pool3d", fn<fractional_pool<3>>},
};

}  // namespace

std::span<const Row> gathered_rows() { return table; }

}  // namespace cameo::lowering
