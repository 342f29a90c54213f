// torch.nn.functional, Pooling functions: averages and maxima of windows.
#include <algorithm>
#include <limits>

#include "kernels/carrier.h"
#include "lowering/aten/nn_functional/windows.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

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

struct OpenWindows {
  const Dims &window, &steps;
  const Ints &padding, &dilation;
  bool ceil_mode;
  Opt<int64_t> divisor = {};
  bool count_padding = true;  // of averages
};
int64_t at_axis(const Ints& all, int64_t i, int64_t otherwise) {
  return all.empty() ? otherwise : all[all.size() == 1 ? 0 : static_cast<size_t>(i)];
}

// The same with padding, or with windows that hang over the end: what lies outside is put where it changes nothing, and
// averages count what they average. Windows of a mean are separable: an axis at a time is divided by its own counts.
V overhanging_pool(Lower& on, V x, bool largest, const OpenWindows& o, int64_t n) {
  if (largest && !on.is_float(x))
    unsupported("pooling of whole numbers with padding and windows whose size depends on the inputs");
  const int64_t lead = on.rank(x) - n;
  for (int64_t i = 0; i < n; ++i) {
    const auto of = [&](const Dims& all) { return all[all.size() == 1 ? 0 : static_cast<size_t>(i)]; };
    const Dim in = on.dim(x, lead + i), size = of(o.window), step = o.steps.empty() ? size : of(o.steps),
              apart(at_axis(o.dilation, i, 1)), pad(at_axis(o.padding, i, 0)),
              room = in + pad + pad - apart * (size - Dim(1)) - Dim(1);
    // The last window starts inside, or in the padding before.
    const Dim count =
        o.ceil_mode ? min(ceil_div(room, step) + Dim(1), ceil_div(in + pad, step)) : floor_div(room, step) + Dim(1);
    const V first = on.Sub(on.Mul(iota(on, count), on.int_scalar(step)), on.int_scalar(pad)),
            at = on.Add(on.unsqueeze(first, {1}), on.unsqueeze(on.Mul(iota(on, size), on.int_scalar(apart)), {0})),
            zero = on.On::int_scalar(0), end = on.int_scalar(in);
    const V inside = on.And(on.GreaterOrEqual(at, zero), on.Less(at, end));
    const V held = on.Gather(x, on.Where(inside, at, zero), {.axis = lead + i});
    Ints behind;
    for (int64_t k = 2; k < on.rank(held) - lead - i; ++k) behind.push_back(k);
    const V fill = on.number_like(largest ? -std::numeric_limits<double>::infinity() : 0, x);
    x = reduce(on, largest ? Reduce::max : Reduce::sum, on.Where(on.unsqueeze(inside, behind), held, fill),
               {lead + i + 1}, false);
    if (largest || o.divisor) continue;
    const V counted = o.count_padding ? V(on.Less(at, on.int_scalar(in + pad))) : inside;
    for (int64_t& k : behind) --k;
    x = on.Div(x, on.unsqueeze(reduce(on, Reduce::sum, on.to(counted, on.dtype(x)), {1}, false), behind));
  }
  return o.divisor ? V(on.Div(x, on.number_like(static_cast<double>(*o.divisor), x))) : x;
}

V pool_of_open_windows(Lower& on, V x, bool largest, const OpenWindows& o, int64_t n) {
  const bool is_plain =
      !o.ceil_mode && !o.divisor && std::all_of(o.padding.begin(), o.padding.end(), [](int64_t p) { return p == 0; });
  if (!is_plain) return overhanging_pool(on, x, largest, o, n);
  return open_pool(on, x, largest ? Reduce::max : Reduce::mean, o.window, o.steps, o.dilation, n);
}

template <int N>
V max_pool(Lower& on, V x, Dims window, Dims steps, Ints padding, Ints dilation, bool ceil_mode) {
  on.need_rank(x, N + 1, "pooling");
  if (is_whole_window(on, x, window, padding, N) &&
      std::all_of(dilation.begin(), dilation.end(), [](int64_t d) { return d == 1; }))
    return reduce(on, Reduce::max, x, last_axes(on, x, N), true);
  if (is_open(window, steps))
    return pool_of_open_windows(on, x, true, {window, steps, padding, dilation, ceil_mode}, N);
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
  if (is_open(window, steps))
    return pool_of_open_windows(on, x, false, {window, steps, padding, {}, ceil_mode, divisor, count_include_pad}, N);
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

constexpr Row table[] = {
    {"aten::avg_pool1d", [](Lower& on, V x, Dims k, Dims s, Ints p, bool ceil,
                            bool count) { return avg_pool<1>(on, x, k, s, p, ceil, count, {}); }},
    {"aten::avg_pool2d", fn<avg_pool<2>>},
    {"aten::avg_pool3d", fn<avg_pool<3>>},
    {"aten::adaptive_avg_pool1d", fn<adaptive_avg_pool<1>>},
    {"aten::adaptive_avg_pool2d", fn<adaptive_avg_pool<2>>},
    {"aten::adaptive_avg_pool3d", fn<adaptive_avg_pool<3>>},
    {"aten::_adaptive_avg_pool2d", fn<adaptive_avg_pool<2>>},
    {"aten::_adaptive_avg_pool3d", fn<adaptive_avg_pool<3>>},
    {"aten::max_pool1d", fn<max_pool<1>>},
    {"aten::max_pool2d", fn<max_pool<2>>},
    {"aten::max_pool3d", fn<max_pool<3>>},
};

}  // namespace

std::span<const Row> nn_functional_pooling_rows() { return table; }

}  // namespace cameo::lowering
