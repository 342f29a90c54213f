// torch.nn.functional, Convolution functions; fold and unfold.
#include <cmath>

#include "lowering/aten/nn_functional/windows.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

// Positions of every window: [kernel, windows].
V window_positions(Lower& on, int64_t kernel, int64_t dilation, Dim windows, int64_t stride) {
  constexpr int64_t most = 1 << 20;
  if (kernel < 1 || kernel > most || stride < 1 || std::abs(dilation) > most)
    unsupported(cat("windows of ", kernel, " elements, ", dilation, " apart"));
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < kernel; ++i) offsets.push_back(i * dilation);
  const V starts =
      on.Mul(on.Range(on.On::int_scalar(0), on.int_scalar(windows), on.On::int_scalar(1)), on.On::int_scalar(stride));
  return on.Add(on.unsqueeze(on.ints(offsets), {1}), on.unsqueeze(starts, {0}));
}

V im2col(Lower& on, V x, Ints kernel, Ints dilation, Ints padding, Ints stride) {
  const bool unbatched = on.rank(x) == 3;
  if (unbatched) x = on.unsqueeze(x, {0});
  if (on.rank(x) != 4 || kernel.size() != 2 || dilation.size() != 2 || padding.size() != 2 || stride.size() != 2)
    unsupported("im2col of a tensor that is not an image");
  const Dims s = on.shape(x);
  Dims windows;
  for (size_t i = 0; i < 2; ++i)
    windows.push_back(floor_div(s[i + 2] + Dim(2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1), Dim(stride[i])) +
                      Dim(1));
  if (padding[0] || padding[1]) x = on.Pad(x, on.ints({0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]}));
  V y = on.Gather(x, window_positions(on, kernel[0], dilation[0], windows[0], stride[0]), {.axis = 2});
  y = on.Gather(y, window_positions(on, kernel[1], dilation[1], windows[1], stride[1]), {.axis = 4});
  on.graph().fact(y).type.shape = Dims{s[0], s[1], Dim(kernel[0]), windows[0], Dim(kernel[1]), windows[1]};
  y = on.reshape(on.transpose(y, {0, 1, 2, 4, 3, 5}),
                 {s[0], s[1] * Dim(kernel[0] * kernel[1]), windows[0] * windows[1]});
  return unbatched ? on.squeeze(y, {0}) : y;
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

// ONNX has pads as attributes: those that the inputs decide are a Pad of their own.
V convolved(Lower& on, V x, V w, const Opt<V>& b, Ints stride, const Dims& pads, Ints dilation, int64_t groups) {
  Ints known;
  for (const Dim d : pads)
    if (d.is_literal()) known.push_back(d.literal());
  if (known.size() == pads.size())
    return convolution(on, x, w, b, std::move(stride), std::move(known), std::move(dilation), false, {0}, groups);
  const size_t n = pads.size() / 2, rank = static_cast<size_t>(on.rank(x));
  Dims all(rank * 2, Dim(0));
  for (size_t i = 0; i < n; ++i) all[rank - n + i] = pads[i], all[2 * rank - n + i] = pads[n + i];
  x = on.Pad(x, on.int_vector(all));
  return convolution(on, x, w, b, std::move(stride), {0}, std::move(dilation), false, {0}, groups);
}

V forward_conv(Lower& on, V x, V w, Opt<V> b, Ints stride, Dims padding, Ints dilation, int64_t groups) {
  on.need_rank(w, 3, "a convolution with weights");
  Dims pads = padding.size() == 1 ? Dims(static_cast<size_t>(on.rank(w) - 2), padding[0]) : std::move(padding);
  const Dims before = pads;
  pads.insert(pads.end(), before.begin(), before.end());
  return convolved(on, x, w, b, std::move(stride), pads, std::move(dilation), groups);
}

// padding="same": what is odd goes to the end.
V padded_conv(Lower& on, V x, V w, Opt<V> b, Ints stride, Str padding, Ints dilation, int64_t groups) {
  on.need_rank(w, 3, "a convolution with weights");
  const int64_t n = on.rank(w) - 2;
  dilation = spread(std::move(dilation), n);
  Dims pads(static_cast<size_t>(2 * n), Dim(0));
  for (int64_t i = 0; i < n && padding == "same"; ++i) {
    const Dim total = Dim(dilation[static_cast<size_t>(i)]) * (on.dim(w, 2 + i) - Dim(1));
    pads[static_cast<size_t>(i)] = floor_div(total, Dim(2));
    pads[static_cast<size_t>(n + i)] = total - pads[static_cast<size_t>(i)];
  }
  return convolved(on, x, w, b, std::move(stride), pads, std::move(dilation), groups);
}

V transposed_conv(Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints more, int64_t groups, Ints d) {
  return convolution(on, x, w, b, s, p, d, true, more, groups);
}

// x is [time, batch, channels], the weight [width, channels, outputs].
V time_convolution(Lower& on, V x, V w, V bias, int64_t pad) {
  const V y = on.Conv(on.transpose(x, {1, 2, 0}), on.transpose(w, {2, 1, 0}), bias, {.pads = Ints{pad, pad}});
  return on.transpose(y, {2, 0, 1});
}

constexpr Row table[] = {
    {"aten::_convolution", [](Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints d, bool transposed, Ints op,
                              int64_t groups) { return convolution(on, x, w, b, s, p, d, transposed, op, groups); }},
    {"aten::_convolution.deprecated",
     [](Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints d, bool transposed, Ints op, int64_t groups) {
       return convolution(on, x, w, b, s, p, d, transposed, op, groups);
     }},
    {"aten::convolution", [](Lower& on, V x, V w, Opt<V> b, Ints s, Ints p, Ints d, bool transposed, Ints op,
                             int64_t groups) { return convolution(on, x, w, b, s, p, d, transposed, op, groups); }},
    {"aten::conv1d", fn<forward_conv>},
    {"aten::conv1d.padding", fn<padded_conv>},
    {"aten::conv2d", fn<forward_conv>},
    {"aten::conv2d.padding", fn<padded_conv>},
    {"aten::conv3d", fn<forward_conv>},
    {"aten::conv3d.padding", fn<padded_conv>},
    {"aten::conv_transpose1d", fn<transposed_conv>},
    {"aten::conv_transpose2d.input", fn<transposed_conv>},
    {"aten::conv_transpose3d.input", fn<transposed_conv>},
    {"aten::_convolution_mode", fn<padded_conv>},
    {"aten::conv_tbc", fn<time_convolution>},
    {"aten::im2col", fn<im2col>},
    {"aten::col2im",
     [](Lower& on, V x, Dims size, Ints kernel, Ints dilation, Ints padding, Ints stride) {
       const bool unbatched = on.rank(x) == 2;
       if (unbatched) x = on.unsqueeze(x, {0});
       const V y = on.Col2Im(
           x, on.int_vector(size), on.ints(kernel),
           {.dilations = dilation, .pads = Ints{padding[0], padding[1], padding[0], padding[1]}, .strides = stride});
       return unbatched ? on.squeeze(y, {0}) : y;
     }},
};

}  // namespace

std::span<const Row> nn_functional_convolution_rows() { return table; }

}  // namespace cameo::lowering
