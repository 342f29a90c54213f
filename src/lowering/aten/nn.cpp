// Layers: convolutions, pools, normalisations, linear maps, reductions of every model.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/carrier.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

Ints doubled(const Ints& v) {
  Ints out = v;
  out.insert(out.end(), v.begin(), v.end());
  return out;
}
Ints spread(Ints v, int64_t n) {
  if (v.size() == 1) v.assign(static_cast<size_t>(n), v[0]);
  if (v.size() != static_cast<size_t>(n))
    unsupported(cat(v.size(), " numbers for windows over ", n, n == 1 ? " axis" : " axes"));
  return v;
}

V convolution(Lower& on, V x, V w, const Opt<V>& bias, Ints stride, Ints padding, Ints dilation, bool transposed,
              Ints output_padding, int64_t groups) {
  on.need_rank(w, 3, "a convolution with weights");
  const int64_t n = on.rank(w) - 2;
  // Without a batch axis: one is added and taken away.
  const bool unbatched = on.rank(x) == n + 1;
  if (unbatched) x = on.unsqueeze(x, {0});
  stride = spread(std::move(stride), n), dilation = spread(std::move(dilation), n);
  output_padding = spread(std::move(output_padding), n);
  const ValueId b = bias ? bias->id : ValueId();
  const Ints pads = padding.size() == static_cast<size_t>(2 * n) ? padding : doubled(spread(std::move(padding), n));
  V y;
  if (transposed)
    y = on.ConvTranspose(
        x, w, b,
        {.dilations = dilation, .group = groups, .output_padding = output_padding, .pads = pads, .strides = stride});
  else y = on.Conv(x, w, b, {.dilations = dilation, .group = groups, .pads = pads, .strides = stride});
  return unbatched ? on.squeeze(y, {0}) : y;
}

V forward_conv(Lower& on, V x, V w, Opt<V> b, Ints stride, Ints padding, Ints dilation, int64_t groups) {
  return convolution(on, x, w, b, std::move(stride), std::move(padding), std::move(dilation), false, {0}, groups);
}

// padding="same": what is odd goes to the end.
V padded_conv(Lower& on, V x, V w, Opt<V> b, Ints stride, Str padding, Ints dilation, int64_t groups) {
  on.need_rank(w, 3, "a convolution with weights");
  const int64_t n = on.rank(w) - 2;
  dilation = spread(std::move(dilation), n);
  Ints pads(static_cast<size_t>(2 * n), 0);
  for (int64_t i = 0; i < n && padding == "same"; ++i) {
    const int64_t total = dilation[static_cast<size_t>(i)] * (known_size(on, w, 2 + i, "padding of a convolution") - 1);
    pads[static_cast<size_t>(i)] = total / 2;
    pads[static_cast<size_t>(n + i)] = total - total / 2;
  }
  return convolution(on, x, w, b, std::move(stride), std::move(pads), std::move(dilation), false, {0}, groups);
}

// Every channel by its own mean and spread within the batch.
struct Normalised {
  V value, mean, inverse_spread;
};
Normalised normalise_by_batch(Lower& on, V x, const Opt<V>& w, const Opt<V>& b, double eps) {
  on.need_rank(x, 2, "batch normalisation");
  Ints others = on.all_axes(x);
  others.erase(others.begin() + 1);
  const V mean = reduce(on, Reduce::mean, x, others, true);
  const V scale = on.Reciprocal(on.Sqrt(on.Add(variance(on, x, others, 0, true), on.number_like(eps, x))));
  V y = on.Mul(on.Sub(x, mean), scale);
  if (w) y = on.Mul(y, reach(on, *w, 1, on.rank(x)));
  if (b) y = on.Add(y, reach(on, *b, 1, on.rank(x)));
  return {y, on.squeeze(mean, others), on.squeeze(scale, others)};
}

V batch_norm(Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, bool training, double, double eps) {
  if (training || !mean || !var) return normalise_by_batch(on, x, w, b, eps).value;
  const DType t = on.dtype(x);
  const Dims channels{on.dim(x, 1)};
  const V scale = w ? *w : on.full(channels, Num(1.0), t);
  const V shift = b ? *b : on.full(channels, Num(0.0), t);
  return on.BatchNormalization(x, scale, shift, *mean, *var, 1, {.epsilon = static_cast<float>(eps)})[0];
}

std::tuple<V, V, V> native_batch_norm(Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, bool training,
                                      double momentum, double eps) {
  if (!training && mean && var) {
    const V none = on.full({Dim(0)}, Num(0.0), on.dtype(x));
    return {batch_norm(on, x, w, b, mean, var, false, momentum, eps), none, none};
  }
  const Normalised n = normalise_by_batch(on, x, w, b, eps);
  return {n.value, n.mean, n.inverse_spread};
}

std::tuple<V, V, V, V> with_reserve(Lower& on, std::tuple<V, V, V> r) {
  return {std::get<0>(r), std::get<1>(r), std::get<2>(r), on.full({Dim(0)}, Num(int64_t{0}), DType::u8)};
}

// The statistics that training would keep, as results.
std::tuple<V, V, V, V, V> batch_norm_with_statistics(Lower& on, V x, Opt<V> w, Opt<V> b, V mean, V var, bool training,
                                                     double momentum, double eps) {
  const auto r = native_batch_norm(on, x, w, b, mean, var, training, momentum, eps);
  if (!training) return {std::get<0>(r), std::get<1>(r), std::get<2>(r), mean, var};
  Ints others = on.all_axes(x);
  others.erase(others.begin() + 1);
  const auto moved_towards = [&](V old, V seen) {
    return V(on.Add(on.Mul(old, on.number_like(1 - momentum, old)), on.Mul(seen, on.number_like(momentum, old))));
  };
  return {std::get<0>(r), std::get<1>(r), std::get<2>(r), moved_towards(mean, std::get<1>(r)),
          moved_towards(var, variance(on, x, others, 1, false))};
}

V layer_norm(Lower& on, V x, Dims shape, Opt<V> w, Opt<V> b, double eps) {
  const auto axis = -static_cast<int64_t>(shape.size());
  const V scale = w ? *w : on.full(shape, Num(1.0), on.dtype(x));
  return on.LayerNormalization(x, scale, 1, b ? b->id : ValueId(),
                               {.axis = axis, .epsilon = static_cast<float>(eps)})[0];
}

// Windows are known numbers, or as large as the image (x.size(2) as the kernel): then nothing is left of those axes
// but 1.
bool is_whole_window(Lower& on, V x, const Dims& kernel, const Ints& padding, int64_t n) {
  if (std::any_of(padding.begin(), padding.end(), [](int64_t p) { return p != 0; })) return false;
  bool symbolic = false;
  for (int64_t i = 0; i < n; ++i) {
    const Dim k = kernel[kernel.size() == 1 ? 0 : static_cast<size_t>(i)];
    symbolic = symbolic || !k.is_literal();
    if (!on.provably(k, on.dim(x, on.rank(x) - n + i))) return false;
  }
  return symbolic;
}
Ints last_axes(Lower& on, V x, int64_t n) {
  Ints out;
  for (int64_t i = on.rank(x) - n; i < on.rank(x); ++i) out.push_back(i);
  return out;
}
bool is_open(const Dims& window, const Dims& steps) {
  const auto open = [](Dim d) { return !d.is_literal(); };
  return std::any_of(window.begin(), window.end(), open) || std::any_of(steps.begin(), steps.end(), open);
}
Ints known_window(const Dims& sizes) {
  Ints out;
  for (const Dim d : sizes) out.push_back(d.literal());
  return out;
}

// Windows whose size depends on the inputs, which attributes cannot express: axis by axis, what each window holds is
// gathered side by side and reduced.
V open_pool(Lower& on, V x, Reduce kind, const Dims& window, const Dims& steps, const Ints& dilation, int64_t n) {
  const int64_t lead = on.rank(x) - n;
  for (int64_t i = 0; i < n; ++i) {
    const auto of = [&](const Dims& all) { return all[all.size() == 1 ? 0 : static_cast<size_t>(i)]; };
    const Dim size = of(window), step = steps.empty() ? size : of(steps),
              apart(dilation.empty() ? 1 : dilation[dilation.size() == 1 ? 0 : static_cast<size_t>(i)]);
    const Dim count = floor_div(on.dim(x, lead + i) - apart * (size - Dim(1)) - Dim(1), step) + Dim(1);
    const V first = on.Mul(iota(on, count), on.int_scalar(step)), inside = on.Mul(iota(on, size), on.int_scalar(apart));
    x = reduce(on, kind, on.Gather(x, on.Add(on.unsqueeze(first, {1}), on.unsqueeze(inside, {0})), {.axis = lead + i}),
               {lead + i + 1}, false);
  }
  return x;
}
void need_plain_windows(const Ints& padding, bool ceil_mode) {
  if (ceil_mode || std::any_of(padding.begin(), padding.end(), [](int64_t p) { return p != 0; }))
    unsupported("pooling with padding or ceil_mode and windows whose size depends on the inputs",
                "pad before pooling, with torch.nn.functional.pad");
}

template <int N>
V max_pool(Lower& on, V x, Dims window, Dims steps, Ints padding, Ints dilation, bool ceil_mode) {
  on.need_rank(x, N + 1, "pooling");
  if (is_whole_window(on, x, window, padding, N) &&
      std::all_of(dilation.begin(), dilation.end(), [](int64_t d) { return d == 1; }))
    return reduce(on, Reduce::max, x, last_axes(on, x, N), true);
  if (is_open(window, steps)) {
    need_plain_windows(padding, ceil_mode);
    return open_pool(on, x, Reduce::max, window, steps, dilation, N);
  }
  Ints kernel = known_window(window), stride = known_window(steps);
  kernel = spread(std::move(kernel), N);
  stride = stride.empty() ? kernel : spread(std::move(stride), N);
  const bool unbatched = on.rank(x) == N + 1;
  if (unbatched) x = on.unsqueeze(x, {0});
  const V y = on.MaxPool(for_pooling(on, x),
                         op::MaxPool{.ceil_mode = ceil_mode,
                                     .dilations = spread(std::move(dilation), N),
                                     .kernel_shape = kernel,
                                     .pads = doubled(spread(std::move(padding), N)),
                                     .strides = stride},
                         1)[0];
  return unbatched ? on.squeeze(y, {0}) : y;
}

// Sums of windows over a divisor: zeros are put around, so that every window is full and its average says its sum.
V sum_pool(Lower& on, V x, const Ints& kernel, const Ints& stride, const Ints& padding, bool ceil_mode,
           int64_t divisor) {
  const auto n = static_cast<int64_t>(kernel.size()), lead = on.rank(x) - n;
  Dims pads(static_cast<size_t>(2 * on.rank(x)), Dim(0));
  double window = 1;
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i);
    int64_t extra = 0;
    if (ceil_mode) {
      const int64_t in = known_size(on, x, lead + i, "pooling with ceil_mode and a divisor"),
                    room = in + 2 * padding[k] - kernel[k];
      int64_t last = (room + stride[k] - 1) / stride[k];
      if (last * stride[k] >= in + padding[k]) --last;  // a window must start inside
      extra = std::max<int64_t>(0, last * stride[k] - room);
    }
    pads[static_cast<size_t>(lead + i)] = Dim(padding[k]);
    pads[static_cast<size_t>(on.rank(x) + lead + i)] = Dim(padding[k] + extra);
    window *= static_cast<double>(kernel[k]);
  }
  x = on.Pad(x, on.int_vector(pads));
  const bool unbatched = lead == 1;
  if (unbatched) x = on.unsqueeze(x, {0});
  const V y = on.Mul(on.AveragePool(for_pooling(on, x), op::AveragePool{.kernel_shape = kernel, .strides = stride}),
                     on.number_like(window / static_cast<double>(divisor), x));
  return unbatched ? on.squeeze(y, {0}) : y;
}

template <int N>
V avg_pool(Lower& on, V x, Dims window, Dims steps, Ints padding, bool ceil_mode, bool count_include_pad,
           Opt<int64_t> divisor) {
  on.need_rank(x, N + 1, "pooling");
  if (!divisor && is_whole_window(on, x, window, padding, N))
    return reduce(on, Reduce::mean, x, last_axes(on, x, N), true);
  if (is_open(window, steps)) {
    need_plain_windows(padding, ceil_mode);
    if (divisor) unsupported("pooling with a divisor of its own and windows whose size depends on the inputs");
    return open_pool(on, x, Reduce::mean, window, steps, {}, N);
  }
  Ints kernel = known_window(window), stride = known_window(steps);
  kernel = spread(std::move(kernel), N);
  stride = stride.empty() ? kernel : spread(std::move(stride), N);
  if (divisor) return sum_pool(on, x, kernel, stride, spread(std::move(padding), N), ceil_mode, *divisor);
  const bool unbatched = on.rank(x) == N + 1;
  if (unbatched) x = on.unsqueeze(x, {0});
  const V y = on.AveragePool(for_pooling(on, x), op::AveragePool{.ceil_mode = ceil_mode,
                                                                 .count_include_pad = count_include_pad,
                                                                 .kernel_shape = kernel,
                                                                 .pads = doubled(spread(std::move(padding), N)),
                                                                 .strides = stride});
  return unbatched ? on.squeeze(y, {0}) : y;
}

// A matrix [out, in] whose rows average one window each of adaptive pooling.
V averaging(Lower& on, Dim in, Dim out, DType t) {
  if (!in.is_literal() || !out.is_literal()) {
    const V n = on.int_scalar(in), m = on.int_scalar(out), zero = on.On::int_scalar(0), one = on.On::int_scalar(1);
    const V row = on.unsqueeze(on.Range(zero, m, one), {1}), column = on.unsqueeze(on.Range(zero, n, one), {0});
    const V begin = on.Div(on.Mul(row, n), m), end = on.Div(on.Add(on.Mul(on.Add(row, one), n), on.Sub(m, one)), m);
    const V inside = on.And(on.GreaterOrEqual(column, begin), on.Less(column, end));
    return on.Div(on.to(inside, t), on.to(on.Sub(end, begin), t));
  }
  const int64_t n = in.literal(), m = out.literal();
  constexpr int64_t most = 1 << 26;
  if (n < 0 || m < 1 || n > most / m) unsupported(cat("adaptive pooling of ", n, " to ", m, " elements"));
  std::vector<double> weights(static_cast<size_t>(n * m), 0);
  for (int64_t row = 0; row < m; ++row) {
    const int64_t begin = row * n / m, end = ((row + 1) * n + m - 1) / m;
    for (int64_t k = begin; k < end; ++k)
      weights[static_cast<size_t>(row * n + k)] = 1.0 / static_cast<double>(end - begin);
  }
  return on.constant(store(t, {m, n}, weights));
}

template <int N>
V adaptive_avg_pool(Lower& on, V x, Dims sizes) {
  on.need_rank(x, N, "adaptive pooling");
  if (std::any_of(sizes.begin(), sizes.end(), [](Dim d) { return d.is_literal() && d.literal() < -1; }))
    unsupported("adaptive pooling to a negative size");
  const int64_t first = on.rank(x) - N;
  Ints axes, kernel, stride;
  bool all_one = true, regular = true;
  for (int64_t i = 0; i < N; ++i) {
    axes.push_back(first + i);
    all_one &= sizes[static_cast<size_t>(i)].is(1);
  }
  if (all_one) return on.ReduceMean(x, on.ints(axes), {.keepdims = 1});
  for (int64_t i = 0; i < N; ++i) {
    const Dim in = on.dim(x, first + i),
              out = sizes[static_cast<size_t>(i)].is(-1) ? in : sizes[static_cast<size_t>(i)];
    regular &= in.is_literal() && out.is_literal() && out.literal() > 0 && in.literal() % out.literal() == 0;
    if (regular) kernel.push_back(in.literal() / out.literal());
  }
  if (regular)
    return avg_pool<N>(on, x, Dims(kernel.begin(), kernel.end()), Dims(kernel.begin(), kernel.end()), Ints(N, 0), false,
                       true, {});
  if (element_count(on.shape(x)).is(0)) {
    Dims none = on.shape(x);
    for (size_t i = 0; i < N; ++i)
      none[static_cast<size_t>(first) + i] = sizes[i].is(-1) ? none[static_cast<size_t>(first) + i] : sizes[i];
    return on.full(none, Num(0.0), on.dtype(x));
  }
  // Windows of different sizes: a matrix product per axis whose rows average one window each.
  for (int64_t i = 0; i < N; ++i) {
    const Dim in = on.dim(x, first + i),
              out = sizes[static_cast<size_t>(i)].is(-1) ? in : sizes[static_cast<size_t>(i)];
    if (on.provably(in, out)) continue;
    // From the left on what follows the axis as one: transposing before a product confuses onnxruntime's fusions.
    Dims lead(on.shape(x).begin(), on.shape(x).begin() + first + i),
        tail(on.shape(x).begin() + first + i + 1, on.shape(x).end()), flat = lead;
    const V matrix = averaging(on, in, out, on.dtype(x));
    if (tail.empty()) {
      x = on.MatMul(x, on.transpose(matrix, {1, 0}));
      continue;
    }
    flat.insert(flat.end(), {in, element_count(tail)});
    lead.push_back(out);
    lead.insert(lead.end(), tail.begin(), tail.end());
    x = on.reshape(on.MatMul(matrix, on.reshape(x, flat)), lead);
  }
  return x;
}

V dropout(Lower& on, V x, double p, bool train) {
  if (train && p > 0) return on.Dropout(x, 1, on.number(p, DType::f32), on.constant(Tensor::bool_scalar(true)))[0];
  return x;
}

V transposed_conv(Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints more, int64_t groups, Ints d) {
  return convolution(on, x, w, b, s, p, d, true, more, groups);
}

V softmax(Lower& on, V x, int64_t dim, Opt<DType> t) {
  return on.Softmax(t ? on.to(x, *t) : x, {.axis = on.axis(x, dim)});
}

V mean_all(Lower& on, V x, Opt<DType> t) {
  return reduce(on, Reduce::mean, t ? on.to(x, *t) : x, on.all_axes(x), false);
}
V mean(Lower& on, V x, Opt<Ints> dims, bool keepdim, Opt<DType> t) {
  if (t) x = on.to(x, *t);
  return reduce(on, Reduce::mean, x, dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x), keepdim);
}
V summed(Lower& on, V x, const Opt<Ints>& dims, bool keepdim, const Opt<DType>& t) {
  if (t) x = on.to(x, *t);
  else if (on.is_int(x) || on.is_bool(x)) x = on.to(x, DType::i64);
  return reduce(on, Reduce::sum, x, dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x), keepdim);
}

// softmax(q k' * scale + mask) v, over the last two axes; leading axes are batches.
V attention(Lower& on, V q, V k, V v, Opt<V> mask, double dropout, bool causal, Opt<double> scale, bool gqa) {
  if (dropout != 0) unsupported("attention with dropout", "export the model in eval mode");
  const int64_t rank = on.rank(q);
  if (rank < 2 || rank != on.rank(k) || rank != on.rank(v)) unsupported("attention over tensors of different ranks");
  op::Attention a;
  a.is_causal = causal;
  if (scale) a.scale = static_cast<float>(*scale);
  if (rank == 4) return on.Attention(q, k, v, 1, mask ? mask->id : ValueId(), {}, {}, {}, a)[0];
  if (gqa || (mask && on.rank(*mask) > 2 && rank != 3)) unsupported("attention of this rank with a mask per batch");
  // All leading axes but the last become one batch axis, with one head.
  const Dims shape = on.shape(q);
  const auto four = [&](V x) {
    const Dims& s = on.shape(x);
    Dim batch(1);
    for (size_t i = 0; i + 2 < s.size(); ++i) batch = batch * s[i];
    return on.reshape(x, {batch, Dim(1), s[s.size() - 2], s.back()});
  };
  if (mask && on.rank(*mask) == 3) mask = on.unsqueeze(*mask, {1});
  const V y = on.Attention(four(q), four(k), four(v), 1, mask ? mask->id : ValueId(), {}, {}, {}, a)[0];
  Dims out = shape;
  out.back() = on.dim(v, -1);
  return on.reshape(y, out);
}

// Where the inner size may be 0, engines lose beta: the sum is scaled before.
V scaled_product(Lower& on, V c, V a, V b, double beta, double alpha) {
  if (beta != 1 && on.graph().facts.surely_less(Dim(0), on.dim(a, 1)) != Answer::yes) {
    c = beta == 0 ? on.number_like(0, c) : V(on.Mul(c, on.number_like(beta, c)));
    beta = 1;
  }
  return on.Gemm(a, b, c, {.alpha = static_cast<float>(alpha), .beta = static_cast<float>(beta)});
}

constexpr Row table[] = {
    {"aten::_convolution", [](Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints d, bool transposed, Ints op, int64_t groups) {
       return convolution(on, x, w, b, s, p, d, transposed, op, groups);
     }},
    {"aten::_convolution.deprecated", [](Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints d, bool transposed, Ints op, int64_t groups) {
       return convolution(on, x, w, b, s, p, d, transposed, op, groups);
     }},
    {"aten::convolution", [](Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints d, bool transposed, Ints op, int64_t groups) {
       return convolution(on, x, w, b, s, p, d, transposed, op, groups);
     }},
    {"aten::conv1d", fn<forward_conv>}, {"aten::conv2d", fn<forward_conv>}, {"aten::conv3d", fn<forward_conv>},
    {"aten::conv_transpose1d", fn<transposed_conv>}, {"aten::conv_transpose2d.input", fn<transposed_conv>}, {"aten::conv_transpose3d.input", fn<transposed_conv>},
    {"aten::_convolution_mode", fn<padded_conv>}, {"aten::conv1d.padding", fn<padded_conv>}, {"aten::conv2d.padding", fn<padded_conv>}, {"aten::conv3d.padding", fn<padded_conv>},
    {"aten::batch_norm", fn<batch_norm>}, {"aten::native_batch_norm", fn<native_batch_norm>}, {"aten::_native_batch_norm_legit", fn<native_batch_norm>},
    {"aten::_native_batch_norm_legit.no_stats", [](Lower& on, V x, Opt<V> w, Opt<V> b, bool, double m, double eps) { return native_batch_norm(on, x, w, b, {}, {}, true, m, eps); }},
    {"aten::_native_batch_norm_legit_no_training", [](Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, double m, double eps) {
       return native_batch_norm(on, x, w, b, mean, var, false, m, eps);
     }},
    {"aten::_native_batch_norm_legit_functional", fn<batch_norm_with_statistics>},
    {"aten::_batch_norm_with_update", [](Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, double m, double eps) { return with_reserve(on, native_batch_norm(on, x, w, b, mean, var, true, m, eps)); }},
    {"aten::_batch_norm_with_update_functional", [](Lower& on, V x, Opt<V> w, Opt<V> b, V mean, V var, double m, double eps) {
       const auto [y, saved_mean, saved_var, new_mean, new_var] = batch_norm_with_statistics(on, x, w, b, mean, var, true, m, eps);
       return std::tuple<V, V, V, V, V, V>{y, saved_mean, saved_var, on.full({Dim(0)}, Num(int64_t{0}), DType::u8), new_mean, new_var};
     }},
    {"aten::_batch_norm_no_update", [](Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, double m, double eps) { return with_reserve(on, native_batch_norm(on, x, w, b, mean, var, false, m, eps)); }},
    {"aten::layer_norm", fn<layer_norm>},
    {"aten::linear", [](Lower& on, V x, V w, Opt<V> b) { return linear(on, x, w, b); }},
    {"aten::matmul", [](Lower& on, V a, V b) { return matmul(on, a, b); }},
    {"aten::bmm", [](Lower& on, V a, V b) { return matmul(on, a, b); }},
    {"aten::mm", [](Lower& on, V a, V b) { return matmul(on, a, b); }},
    {"aten::addmm", fn<scaled_product>},
    {"aten::max_pool1d", fn<max_pool<1>>}, {"aten::max_pool2d", fn<max_pool<2>>}, {"aten::max_pool3d", fn<max_pool<3>>},
    {"aten::avg_pool1d", [](Lower& on, V x, Dims k, Dims s, Ints p, bool ceil, bool count) { return avg_pool<1>(on, x, k, s, p, ceil, count, {}); }}, {"aten::avg_pool2d", fn<avg_pool<2>>}, {"aten::avg_pool3d", fn<avg_pool<3>>},
    {"aten::adaptive_avg_pool1d", fn<adaptive_avg_pool<1>>}, {"aten::adaptive_avg_pool2d", fn<adaptive_avg_pool<2>>}, {"aten::adaptive_avg_pool3d", fn<adaptive_avg_pool<3>>},
    {"aten::_adaptive_avg_pool2d", fn<adaptive_avg_pool<2>>}, {"aten::_adaptive_avg_pool3d", fn<adaptive_avg_pool<3>>},
    {"aten::dropout", fn<dropout>},
    {"aten::native_dropout_backward", [](Lower& on, V g, V mask, double scale) { return V(on.Mul(on.Mul(g, on.to(mask, on.dtype(g))), on.number_like(scale, g))); }},
    {"aten::_safe_softmax", [](Lower& on, V x, int64_t dim, Opt<DType> t) {
       const V y = softmax(on, x, dim, t), hopeless = on.Equal(x, on.number_like(-std::numeric_limits<double>::infinity(), x));
       const V all = reduce(on, Reduce::min, on.to(hopeless, DType::i32), {on.axis(x, dim)}, true);
       return V(on.Where(on.to(all, DType::boolean), on.number_like(0, y), y));
     }},
    {"aten::_softmax_backward_data", [](Lower& on, V g, V y, int64_t dim, DType t) {
       const V gy = on.Mul(g, y);
       return on.to(on.Sub(gy, on.Mul(y, reduce(on, Reduce::sum, gy, {on.axis(y, dim)}, true))), t);
     }},
    {"aten::softmax.int", fn<softmax>},
    {"aten::_softmax", [](Lower& on, V x, int64_t dim) { return V(on.Softmax(x, {.axis = on.axis(x, dim)})); }},
    {"aten::log_softmax.int", [](Lower& on, V x, int64_t dim, Opt<DType> t) { return V(on.LogSoftmax(t ? on.to(x, *t) : x, {.axis = on.axis(x, dim)})); }},
    {"aten::mean", fn<mean_all>}, {"aten::mean.dim", fn<mean>},
    {"aten::sum", [](Lower& on, V x, Opt<DType> t) { return summed(on, x, {}, false, t); }},
    {"aten::sum.dim_IntList", [](Lower& on, V x, Opt<Ints> dims, bool keepdim, Opt<DType> t) { return summed(on, x, dims, keepdim, t); }},
    {"aten::embedding", [](Lower& on, V w, V index) { return V(on.Gather(w, index, {.axis = 0})); }},
    {"aten::scaled_dot_product_attention", fn<attention>},
};

}  // namespace

std::span<const Row> nn_rows() { return table; }

}  // namespace cameo::lowering
