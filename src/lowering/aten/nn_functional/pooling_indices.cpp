// torch.nn.functional, Pooling functions: maxima with their places, adaptive maxima, and the way back.
#include <algorithm>

#include "lowering/aten/nn_functional/windows.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

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

Dim plane_size(Lower& on, V x, int64_t n) {
  Dim size(1);
  for (int64_t i = on.rank(x) - n; i < on.rank(x); ++i) size = size * on.dim(x, i);
  return size;
}

// ONNX counts places through the whole tensor, torch within one channel's plane.
template <int N>
std::tuple<V, V> max_pool_places(Lower& on, V x, Ints kernel, Ints stride, Ints padding, Ints dilation,
                                 bool ceil_mode) {
  on.need_rank(x, N + 1, "pooling");
  kernel = spread(std::move(kernel), N), padding = spread(std::move(padding), N);
  const Ints strides = stride.empty() ? kernel : spread(std::move(stride), N);
  Ints pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  const bool unbatched = on.rank(x) == N + 1;
  if (unbatched) x = on.unsqueeze(x, {0});
  const auto out = on.MaxPool(for_pooling(on, x),
                              op::MaxPool{.ceil_mode = ceil_mode,
                                          .dilations = spread(std::move(dilation), N),
                                          .kernel_shape = kernel,
                                          .pads = pads,
                                          .strides = strides},
                              2);
  const V at = on.Mod(out[1], on.int_scalar(plane_size(on, x, N)));
  return {unbatched ? on.squeeze(out[0], {0}) : V(out[0]), unbatched ? on.squeeze(at, {0}) : at};
}

// Which elements the windows of an adaptive pool cover: [windows, longest window], the last element repeated.
V adaptive_windows(Lower& on, int64_t in, int64_t out) {
  constexpr int64_t most = 1 << 24;  // elements of windows, which a constant holds
  if (in < 1 || out < 0 || in > most || out > most || (out > 0 && (in / out + 2) > most / out))
    unsupported(cat("adaptive pooling of ", in, " to ", out, " elements"));
  Ints at;
  int64_t longest = 0;
  const auto begin = [&](int64_t o) { return o * in / out; };
  const auto end = [&](int64_t o) { return ((o + 1) * in + out - 1) / out; };
  for (int64_t o = 0; o < out; ++o) longest = std::max(longest, end(o) - begin(o));
  for (int64_t o = 0; o < out; ++o)
    for (int64_t k = 0; k < longest; ++k) at.push_back(std::min(begin(o) + k, end(o) - 1));
  return on.reshape(on.ints(at), {Dim(out), Dim(longest)});
}

// The same of an axis whose size depends on the inputs.
V open_windows(Lower& on, Dim in, int64_t out) {
  const V count = on.On::int_scalar(out), size = on.int_scalar(in), o = iota(on, Dim(out)), one = on.On::int_scalar(1);
  const V begin = on.Div(on.Mul(o, size), count),
          last = on.Div(on.Sub(on.Mul(on.Add(o, one), size), one), count);  // the last of ceil((o + 1) * in / out)
  const Dim longest = out == 1 ? in : ceil_div(in, Dim(out)) + Dim(1);
  return on.Min(std::vector<ValueId>{on.Add(on.unsqueeze(begin, {1}), on.unsqueeze(iota(on, longest), {0})),
                                     on.unsqueeze(last, {1})});
}

// The last N axes as windows: their counts, then everything one window holds as the last axis.
template <int N>
V windowed(Lower& on, V x, const Vs& windows) {
  const int64_t lead = on.rank(x) - N;
  Dims shape(on.shape(x).begin(), on.shape(x).begin() + lead);
  Ints perm(static_cast<size_t>(lead));
  Dim inside(1);
  for (int64_t i = 0; i < lead; ++i) perm[static_cast<size_t>(i)] = i;
  for (int64_t i = 0; i < N; ++i) {
    const V w = windows[static_cast<size_t>(i)];
    x = on.Gather(x, w, {.axis = lead + 2 * i});
    perm.push_back(lead + 2 * i);
    shape.push_back(on.dim(w, 0));
    inside = inside * on.dim(w, 1);
  }
  for (int64_t i = 0; i < N; ++i) perm.push_back(lead + 2 * i + 1);
  shape.push_back(inside);
  return on.reshape(on.transpose(x, perm), shape);
}

template <int N>
std::tuple<V, V> adaptive_max_pool(Lower& on, V x, Ints sizes) {
  sizes = spread(std::move(sizes), N);
  on.need_rank(x, N, "adaptive pooling");
  const int64_t lead = on.rank(x) - N;
  Vs windows;
  Dims plane;
  for (int64_t i = 0; i < N; ++i) {
    const Dim in = on.dim(x, lead + i);
    const int64_t out = sizes[static_cast<size_t>(i)];
    windows.push_back(in.is_literal() ? adaptive_windows(on, in.literal(), out) : open_windows(on, in, out));
    plane.push_back(in);
  }
  const V all = windowed<N>(on, x, windows),
          places = windowed<N>(on, on.reshape(iota(on, element_count(plane)), plane), windows);
  const int64_t last = on.rank(all) - 1;
  const V best = on.ArgMax(all, {.axis = last, .keepdims = 1});
  Dims wide(on.shape(all));
  const V at = on.GatherElements(on.expand(places, wide), best, {.axis = last});
  return {reduce(on, Reduce::max, all, {last}, false), on.squeeze(at, {last})};
}

template <int N>
V max_unpool(Lower& on, V x, V at, Dims sizes) {
  on.need_rank(x, N, "unpooling");
  if (sizes.size() < N) unsupported(cat("unpooling to ", sizes.size(), " sizes"));
  const int64_t lead = on.rank(x) - N;
  const Dims outer(on.shape(x).begin(), on.shape(x).begin() + lead);
  const Dim rows = element_count(outer);
  Dims out = outer;
  out.insert(out.end(), sizes.end() - N, sizes.end());
  const Dim plane = element_count(Dims(sizes.end() - N, sizes.end())), pooled = plane_size(on, x, N);
  const V blank = on.full({rows, plane}, Num(int64_t{0}), on.dtype(x));
  return on.reshape(
      on.ScatterElements(blank, on.reshape(at, {rows, pooled}), on.reshape(x, {rows, pooled}), {.axis = 1}), out);
}

constexpr Row table[] = {
    {"aten::max_pool1d_with_indices", fn<max_pool_places<1>>},
    {"aten::max_pool2d_with_indices", fn<max_pool_places<2>>},
    {"aten::max_pool3d_with_indices", fn<max_pool_places<3>>},
    {"aten::adaptive_max_pool1d", fn<adaptive_max_pool<1>>},
    {"aten::adaptive_max_pool2d", fn<adaptive_max_pool<2>>},
    {"aten::adaptive_max_pool3d", fn<adaptive_max_pool<3>>},
    {"aten::max_unpool2d", fn<max_unpool<2>>},
    {"aten::max_unpool3d", fn<max_unpool<3>>},
    {"aten::max_pool2d_with_indices_backward", fn<pool_gradient>},
    {"aten::fractional_max_pool2d", fn<fractional_pool<2>>},
    {"aten::fractional_max_pool3d", fn<fractional_pool<3>>},
};

}  // namespace

std::span<const Row> nn_functional_pooling_indices_rows() { return table; }

}  // namespace cameo::lowering
