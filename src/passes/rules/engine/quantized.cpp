#include "passes/rules/engine/quantized.h"

#include <algorithm>
#include <cmath>

namespace cameo::passes {

namespace {

bool is_byte(DType t) { return t == DType::u8 || t == DType::i8; }

int64_t count(const Rewrite& rw, ValueId v) { return rw.content(v).count(); }

// So many scales, and as many zero points of the type of the bytes.
bool fits(const Rewrite& rw, const Dequantized& q, int64_t scales) {
  return count(rw, q.scale) == scales &&
         (!q.zero || (count(rw, q.zero) == scales && element_of(rw, q.zero) == element_of(rw, q.bytes)));
}

bool all_zero(const Rewrite& rw, ValueId v) {
  const Loaded<int64_t> z(rw.content(v));
  return std::all_of(z.span().begin(), z.span().end(), [](int64_t n) { return n == 0; });
}

std::optional<Dequantized> dequantized(const Rewrite& rw, ValueId v) {
  const auto* a = rw.made_by<op::DequantizeLinear>(v);
  if (!a || a->block_size != 0 || element_of(rw, v) != DType::f32) return std::nullopt;
  const Dequantized q{rw.operand(v, 0), rw.operand(v, 1), rw.operand(v, 2), a->axis};
  if (element_of(rw, q.scale) != DType::f32 || !rw.is_constant(q.scale) || (q.zero && !rw.is_constant(q.zero)))
    return std::nullopt;
  return q;
}

}  // namespace

DType element_of(const Rewrite& rw, ValueId v) {
  return v && rw.fact(v).type.is_tensor() ? rw.dtype(v) : DType::undefined;
}

std::optional<std::vector<int64_t>> sizes(const Rewrite& rw, ValueId v) {
  return rw.has_rank(v) ? known_shape(rw.shape(v)) : std::nullopt;
}

std::optional<Dequantized> activation(const Rewrite& rw, ValueId v) {
  const auto q = dequantized(rw, v);
  return q && is_byte(element_of(rw, q->bytes)) && fits(rw, *q, 1) ? q : std::nullopt;
}

std::optional<Dequantized> quantized_weights(const Rewrite& rw, ValueId v, int64_t axis) {
  const auto q = dequantized(rw, v);
  if (!q || !is_byte(element_of(rw, q->bytes)) || !rw.is_constant(q->bytes)) return std::nullopt;
  const auto shape = sizes(rw, q->bytes);
  if (!shape) return std::nullopt;
  const auto rank = static_cast<int64_t>(shape->size());
  if (axis >= rank) return std::nullopt;
  if (count(rw, q->scale) == 1) return fits(rw, *q, 1) ? q : std::nullopt;
  const bool along = q->axis == axis || q->axis + rank == axis;
  return along && fits(rw, *q, (*shape)[static_cast<size_t>(axis)]) ? q : std::nullopt;
}

bool has_no_zero_point(const Rewrite& rw, const Dequantized& q) {
  return element_of(rw, q.bytes) == DType::i8 && (!q.zero || all_zero(rw, q.zero));
}

std::optional<Quantizer> quantizer_at(const Rewrite& rw, NodeId n) {
  const auto* a = rw.g[n].as<op::QuantizeLinear>();
  if (!a || a->block_size != 0 || (a->precision != 0 && a->precision != 1)) return std::nullopt;
  const Quantizer q{rw.g.input(n, 0), rw.g[n].outputs[0], rw.g.input(n, 1), rw.g.input(n, 2)};
  if (!is_byte(element_of(rw, q.out)) || element_of(rw, q.scale) != DType::f32) return std::nullopt;
  if (!rw.is_constant(q.scale) || count(rw, q.scale) != 1) return std::nullopt;
  if (q.zero && (!rw.is_constant(q.zero) || count(rw, q.zero) != 1)) return std::nullopt;
  return q;
}

bool implied(const Rewrite& rw, const Node& clip, const Quantizer& q) {
  const bool is_signed = element_of(rw, q.out) == DType::i8;
  const double scale = rw.content(q.scale).double_at(0), zero = q.zero ? rw.content(q.zero).double_at(0) : 0;
  const double low = ((is_signed ? -128 : 0) - zero) * scale, high = ((is_signed ? 127 : 255) - zero) * scale;
  const auto bound = [&](size_t i, double absent) {
    if (i >= clip.inputs.size() || !clip.inputs[i]) return std::optional(absent);
    const auto t = rw.is_constant(clip.inputs[i]) ? rw.constant(clip.inputs[i], 64) : std::nullopt;
    return t && t->count() == 1 ? std::optional(t->double_at(0)) : std::nullopt;
  };
  const auto from = clip.is("Relu") ? std::optional(0.0) : bound(1, -INFINITY),
             to = clip.is("Relu") ? std::optional<double>(INFINITY) : bound(2, INFINITY);
  return from && to && *from <= low + scale * 1e-3 && *to >= high - scale * 1e-3;
}

ValueId zero_of(Rewrite& rw, const Dequantized& q) {
  return q.zero ? q.zero : rw.on.constant(zeros(element_of(rw, q.bytes), rw.content(q.scale).shape()));
}

ValueId zero_of(Rewrite& rw, const Quantizer& q) {
  return q.zero ? q.zero : rw.on.constant(zeros(element_of(rw, q.out), rw.content(q.scale).shape()));
}

std::optional<ValueId> integer_bias(Rewrite& rw, ValueId bias, const Dequantized& x, const Dequantized& w,
                                    int64_t channels) {
  if (!bias) return ValueId();
  const auto q = dequantized(rw, bias);
  if (q && (element_of(rw, q->bytes) != DType::i32 || !rw.is_constant(q->bytes) || (q->zero && !all_zero(rw, q->zero))))
    return std::nullopt;
  if (!q && (!rw.is_constant(bias) || element_of(rw, bias) != DType::f32)) return std::nullopt;
  const Tensor raw = rw.content(q ? q->bytes : bias);
  const Loaded<float> sx(rw.content(x.scale)), sw(rw.content(w.scale));
  if (raw.count() != channels || (sw.size() != 1 && sw.size() != channels)) return std::nullopt;
  const std::vector<double> v = raw.to_doubles(), s = q ? rw.content(q->scale).to_doubles() : std::vector<double>{1.0};
  if ((s.size() != 1 && s.size() != v.size()) || (q && !fits(rw, *q, static_cast<int64_t>(s.size()))))
    return std::nullopt;
  std::vector<int32_t> out;
  for (size_t i = 0; i < v.size(); ++i) {
    const double unit = double{sx[0]} * sw[sw.size() == 1 ? 0 : static_cast<int64_t>(i)],
                 own = s[s.size() == 1 ? 0 : i];
    const double number = q && std::fabs(own - unit) <= 1e-6 * unit ? v[i] : std::nearbyint(v[i] * own / unit);
    if (!(std::fabs(number) < 1e9)) return std::nullopt;
    out.push_back(static_cast<int32_t>(number));
  }
  const ValueId made = rw.on.constant(Tensor::of<int32_t>(DType::i32, {channels}, out));
  rw.g.label(made).name = rw.g[bias].name;
  return made;
}

}  // namespace cameo::passes
