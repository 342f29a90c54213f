// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear between f32 and bytes; sums of integers as floats.
#include <algorithm>
#include <cmath>

#include "engine/emit.h"
#include "engine/parallel.h"
#include "engine/simd/byte_chain.h"
#include "engine/simd/emitters.h"
#include "engine/simd/half.h"
#include "engine/simd/integer.h"
#include "engine/simd/quantize_rows.h"
#include "kernels/carrier.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

namespace {

// The elements as they lie: `outer` times `channels` runs of `inner` elements with a scale each. One channel: one scale
// for all.
struct Runs {
  int64_t outer = 1, channels = 1, inner = 1;
};
struct Scales {
  std::vector<float> scale, zero;
};

template <class From, class To>
class ConvertKernel : public Kernel {
 public:
  ConvertKernel(const Runs& r, Scales s) : r_(r), s_(std::move(s)) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const auto total = static_cast<uint64_t>(r_.outer * r_.channels * r_.inner);
    return {{total * sizeof(From)}, {total * sizeof(To)}};
  }
  void run(const Buffers& b) const override {
    const auto* x = b.input<From>(0);
    auto* y = b.output<To>(0);
    if (r_.inner == 1 && r_.channels > 1) {  // channels last: a scale per element of a run
      parallel(r_.outer, std::max<int64_t>(1, 16384 / r_.channels), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) per(x + i * r_.channels, y + i * r_.channels);
      });
      return;
    }
    const int64_t piece = r_.channels == 1 ? 4096 : r_.inner, total = r_.outer * r_.channels * r_.inner;
    parallel((total + piece - 1) / piece, std::max<int64_t>(1, 16384 / piece), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const auto channel = static_cast<size_t>(r_.channels == 1 ? 0 : i % r_.channels);
        one(x + i * piece, y + i * piece, std::min(piece, total - i * piece), s_.scale[channel], s_.zero[channel]);
      }
    });
  }

 private:
  void per(const From* x, To* y) const {
    if constexpr (std::is_same_v<From, float>) quantize_row_per(x, y, r_.channels, s_.scale.data(), s_.zero.data());
    else dequantize_row_per(x, y, r_.channels, s_.scale.data(), s_.zero.data());
  }
  static void one(const From* x, To* y, int64_t n, float scale, float zero) {
    if constexpr (std::is_same_v<From, float>) quantize_row(x, y, n, scale, zero);
    else dequantize_row(x, y, n, scale, zero);
  }

  Runs r_;
  Scales s_;
};

// The constant scales and zero points of a node; nothing where they vary or are of other kinds.
std::optional<Scales> scales_of(Compiler& c, const Node& node) {
  const ValueId scale = node.inputs[1], zero = node.inputs.size() > 2 ? node.inputs[2] : ValueId();
  if (!c.is_f32(scale) || !c.is_constant(scale) || (zero && !c.is_constant(zero))) return std::nullopt;
  const Loaded<float> s(*c.constant(scale));
  Scales out{{s.span().begin(), s.span().end()}, std::vector<float>(static_cast<size_t>(s.size()), 0.0f)};
  if (zero) {
    const Loaded<float> z(*c.constant(zero));
    if (z.size() != s.size()) return std::nullopt;
    out.zero.assign(z.span().begin(), z.span().end());
  }
  return out;
}

bool emit_convert(Compiler& c, NodeId n, int64_t axis, int64_t block_size, bool quantize) {
  const Node& node = c.graph()[n];
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (block_size != 0 ||
      !(quantize ? c.is_f32(x) && is_byte(c.desc(y)->dtype) : is_byte(c.desc(x)->dtype) && c.is_f32(y)))
    return false;
  auto s = scales_of(c, node);
  const SlotId from = c.slot_desc(c.slot(x)).dense() ? c.slot(x) : c.plain(x);
  const Physical p(c.slot_desc(from));
  if (!s || c.desc(x)->count() == 0) return false;
  Runs r;
  if (s->scale.size() > 1) {
    const auto rank = static_cast<int64_t>(p.dims.size());
    if (axis < -rank || axis >= rank) return false;
    const size_t place = p.place(static_cast<size_t>(axis < 0 ? axis + rank : axis));
    for (size_t i = 0; i < p.dims.size(); ++i) (i < place ? r.outer : i == place ? r.channels : r.inner) *= p.dims[i];
    if (r.channels != static_cast<int64_t>(s->scale.size())) return false;
  } else {
    r.inner = c.desc(x)->count();
  }
  const bool is_u8 = c.desc(quantize ? y : x)->dtype == DType::u8;
  std::unique_ptr<Kernel> kernel;
  if (quantize && is_u8) kernel = std::make_unique<ConvertKernel<float, uint8_t>>(r, std::move(*s));
  else if (quantize) kernel = std::make_unique<ConvertKernel<float, int8_t>>(r, std::move(*s));
  else if (is_u8) kernel = std::make_unique<ConvertKernel<uint8_t, float>>(r, std::move(*s));
  else kernel = std::make_unique<ConvertKernel<int8_t, float>>(r, std::move(*s));
  const Desc& d = *c.desc(y);
  const SlotId out = c.make(c.slot_desc(from).plain() ? d : dense_desc(d.dtype, d.dims, p.order));
  c.step(n, std::string(node.op->name), std::move(kernel), {from}, {out});
  c.bind(y, out);
  return true;
}

class DynamicKernel : public Kernel {
 public:
  explicit DynamicKernel(int64_t count) : count_(count) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{floats(count_)}, {static_cast<uint64_t>(count_), sizeof(float), 1}}; }
  void run(const Buffers& b) const override {
    const float* x = b.input<float>(0);
    float bottom = 0, top = 0;
    widen_range(x, count_, bottom, top);
    const float scale = top == bottom ? 1.0f : (top - bottom) / 255.0f;  // of zeros only: as onnxruntime has it
    const float place = 0.0f - bottom / scale;                           // no number where the range is infinite
    const float zero = place >= 0.0f ? std::nearbyint(std::min(place, 255.0f)) : 0.0f;
    parallel(count_, 16384, [&](int64_t first, int64_t last) {
      quantize_row(x + first, b.output<uint8_t>(0) + first, last - first, scale, zero);
    });
    *b.output<float>(1) = scale;
    *b.output<uint8_t>(2) = static_cast<uint8_t>(zero);
  }

 private:
  int64_t count_;
};

class ToFloatKernel : public Kernel {
 public:
  explicit ToFloatKernel(int64_t count) : count_(count) { in_place = {0}; }
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{floats(count_)}, {floats(count_)}}; }
  void run(const Buffers& b) const override {
    parallel(count_, 16384, [&](int64_t first, int64_t last) {
      to_float_row(b.input<int32_t>(0) + first, b.output<float>(0) + first, last - first);
    });
  }

 private:
  int64_t count_;
};

}  // namespace

bool emit_quantize(Compiler& c, NodeId n) {
  const auto* a = c.graph()[n].as<op::QuantizeLinear>();
  return a && (a->precision == 0 || a->precision == 1) && emit_convert(c, n, a->axis, a->block_size, true);
}

bool emit_dequantize(Compiler& c, NodeId n) {
  const auto* a = c.graph()[n].as<op::DequantizeLinear>();
  return a && (emit_byte_chain(c, n) || emit_convert(c, n, a->axis, a->block_size, false));
}

bool emit_cast(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (emit_half_cast(c, n)) return true;
  if (c.desc(x)->dtype != DType::i32 || !c.is_f32(y)) return false;
  const SlotId from = c.slot_desc(c.slot(x)).dense() ? c.slot(x) : c.plain(x);
  const Desc& d = *c.desc(y);
  const SlotId out =
      c.make(c.slot_desc(from).plain() ? d : dense_desc(d.dtype, d.dims, Physical(c.slot_desc(from)).order));
  c.step(n, "Cast", std::make_unique<ToFloatKernel>(d.count()), {from}, {out});
  c.bind(y, out);
  return true;
}

bool emit_dynamic_quantize(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (node.outputs.size() != 3 || !c.is_f32(node.inputs[0])) return false;
  std::vector<SlotId> out;
  for (const ValueId v : node.outputs) out.push_back(c.make(*c.desc(v)));
  const SlotId x = c.plain(node.inputs[0]);
  c.step(n, "DynamicQuantizeLinear", std::make_unique<DynamicKernel>(c.desc(node.inputs[0])->count()), {x}, out);
  for (size_t i = 0; i < out.size(); ++i) c.bind(node.outputs[i], out[i]);
  return true;
}

}  // namespace cameo::engine
