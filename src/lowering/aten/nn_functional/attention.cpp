// torch.nn.functional, Attention Mechanisms.
#include <cmath>
#include <limits>

#include "kernels/carrier.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

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

constexpr Row table[] = {
    {"aten::scaled_dot_product_attention", fn<attention>},
    {"aten::_native_multi_head_attention", fn<fused_attention>},
    {"aten::_transformer_encoder_layer_fwd", fn<encoder_layer>},
};

}  // namespace

std::span<const Row> nn_functional_attention_rows() { return table; }

}  // namespace cameo::lowering
