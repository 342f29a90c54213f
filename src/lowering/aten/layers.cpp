// Layers that PyTorch fuses or spells in its own way.
#include <cmath>
#include <limits>

#include "kernels/carrier.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V weight_norm(Lower& on, V v, V g, int64_t dim) {
  Ints axes;
  for (const int64_t a : on.all_axes(v))
    if (dim < 0 || a != on.axis(v, dim)) axes.push_back(a);
  return on.Mul(v, on.Div(g, reduce(on, Reduce::l2, v, axes, true)));
}

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

// The fast path of nn.MultiheadAttention: packed projections, attention, output projection.
std::tuple<V, V> fused_attention(Lower& on, V q, V k, V v, Dim embed, int64_t heads, V qkv_w, V qkv_b, V out_w, V out_b,
                                 Opt<V> mask, bool need_weights, bool average, Opt<int64_t> mask_type) {
  const auto project = [&](V x, int64_t i) {
    const V w = on.slice(qkv_w, 0, embed * Dim(i), embed * Dim(i + 1)),
            b = on.slice(qkv_b, 0, embed * Dim(i), embed * Dim(i + 1));
    const V y = linear(on, x, w, b);
    return on.transpose(on.reshape(y, {on.dim(x, 0), on.dim(x, 1), Dim(heads), floor_div(embed, Dim(heads))}),
                        {0, 2, 1, 3});
  };
  V hidden;
  if (mask) {
    // True means "do not look". Type 0 is [time, time], 1 is [batch, time] of keys, 2 the full [batch, heads, time,
    // time].
    hidden = mask_type.value_or(0) == 1 && on.rank(*mask) == 2 ? on.unsqueeze(*mask, {1, 2}) : *mask;
  }
  const V pq = project(q, 0), pk = project(k, 1), pv = project(v, 2);
  V y, weights;
  if (need_weights) {
    const double scale = 1 / std::sqrt(static_cast<double>(known_size(on, pq, 3, "attention")));
    V scores = on.MatMul(on.Mul(pq, on.number_like(scale, pq)), on.transpose(pk, {0, 1, 3, 2}));
    if (hidden.valid())
      scores = on.is_bool(hidden)
                   ? V(on.Where(hidden, on.number_like(-std::numeric_limits<double>::infinity(), scores), scores))
                   : V(on.Add(scores, hidden));
    weights = on.Softmax(scores, {.axis = -1});
    y = on.MatMul(weights, pv);
    if (average) weights = reduce(on, Reduce::mean, weights, {1}, false);
  } else {
    y = on.Attention(pq, pk, pv, 1,
                     !hidden.valid()      ? ValueId()
                     : on.is_bool(hidden) ? on.Not(hidden)
                                          : hidden.id,
                     {}, {}, {}, {})[0];
    weights = on.constant(zeros(on.dtype(q), {0}));
  }
  const V joined = on.reshape(on.transpose(y, {0, 2, 1, 3}), {on.dim(q, 0), on.dim(q, 1), embed});
  return {linear(on, joined, out_w, out_b), weights};
}

// nn.TransformerEncoderLayer in one call.
V encoder_layer(Lower& on, V x, Dim embed, int64_t heads, V qkv_w, V qkv_b, V out_w, V out_b, bool use_gelu,
                bool norm_first, double eps, V w1, V b1, V w2, V b2, V up_w, V up_b, V down_w, V down_b, Opt<V> mask,
                Opt<int64_t> mask_type) {
  const auto normal = [&](V v, V w, V b) {
    return V(on.LayerNormalization(v, w, 1, b, {.axis = -1, .epsilon = static_cast<float>(eps)})[0]);
  };
  const auto attend = [&](V v) {
    return std::get<0>(
        fused_attention(on, v, v, v, embed, heads, qkv_w, qkv_b, out_w, out_b, mask, false, false, mask_type));
  };
  const auto feed = [&](V v) {
    const V wide = linear(on, v, up_w, up_b);
    return linear(on, use_gelu ? on.Gelu(wide) : on.Relu(wide), down_w, down_b);
  };
  if (norm_first) {
    x = on.Add(x, attend(normal(x, w1, b1)));
    return on.Add(x, feed(normal(x, w2, b2)));
  }
  x = normal(on.Add(x, attend(x)), w1, b1);
  return normal(on.Add(x, feed(x)), w2, b2);
}

V antialiased(Lower& on, V x, const Str& mode, const Opt<Dims>& sizes, bool align, const Opt<Floats>& scales) {
  op::Resize a;
  a.mode = mode;
  a.antialias = 1;
  a.exclude_outside = 1;    // weights outside the image are dropped, not the border repeated
  a.cubic_coeff_a = -0.5f;  // the antialiased kernel of PyTorch and PIL
  a.coordinate_transformation_mode = align ? "align_corners" : "half_pixel";
  if (on.rank(x) != 4 || (sizes ? sizes->size() : scales ? scales->size() : 0) != 2)
    unsupported("antialiased resizing of other than two axes");
  Dims all{on.dim(x, 0), on.dim(x, 1)};
  for (size_t i = 0; i < 2; ++i) {
    if (sizes) all.push_back((*sizes)[i]);
    else {
      const Opt<int64_t> n = on.known_dim(x, static_cast<int64_t>(i) + 2);
      if (!n) unsupported("antialiased resizing by a factor of an unknown size");
      all.push_back(Dim(static_cast<int64_t>(std::floor(static_cast<double>(*n) * (*scales)[i]))));
    }
  }
  const V y = on.Resize(x, {}, {}, on.int_vector(all), a);
  on.graph().fact(y).type.shape = all;
  return y;
}

constexpr Row table[] = {
    {"aten::_weight_norm", fn<weight_norm>},
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
    {"aten::_native_multi_head_attention", fn<fused_attention>},
    {"aten::_transformer_encoder_layer_fwd", fn<encoder_layer>},
    {"aten::_upsample_bicubic2d_aa",
     [](Lower& on, V x, Dims sizes, bool align) { return antialiased(on, x, "cubic", sizes, align, {}); }},
    {"aten::_upsample_bilinear2d_aa",
     [](Lower& on, V x, Dims sizes, bool align) { return antialiased(on, x, "linear", sizes, align, {}); }},
    {"aten::_upsample_bicubic2d_aa.vec",
     [](Lower& on, V x, Opt<Dims> sizes, bool align, Opt<Floats> scales) {
       return antialiased(on, x, "cubic", sizes, align, scales);
     }},
    {"aten::_upsample_bilinear2d_aa.vec",
     [](Lower& on, V x, Opt<Dims> sizes, bool align, Opt<Floats> scales) {
       return antialiased(on, x, "linear", sizes, align, scales);
     }},
};

}  // namespace

std::span<const Row> layer_rows() { return table; }

}  // namespace cameo::lowering
