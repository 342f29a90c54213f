// ConvInteger and QLinearConv: sums by oneDNN, what is done to them by our vector code. Large images go in strips.
#include "engine/emit.h"
#include "engine/onednn/emitters.h"
#include "engine/onednn/integer.h"
#include "engine/parallel.h"
#include "engine/simd/quantize_rows.h"
#include "engine/simd/vnni_rows.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

SlotId wide_zero(Compiler& c, const ByteConv& b) {
  if (b.zero) return constant_row(c, {*b.zero});
  const SlotId out = c.make({DType::i32, {1}, nullptr});
  c.step(b.node, "zero point", make_wide_zero(b.in == DType::i8), {c.plain(b.x_zero)}, {out});
  return out;
}

SlotId byte_weights(Compiler& c, const ByteConv& b, const Md& wanted) {
  return packed(c, b.w, "int8", Tensor(DType::i8, b.shape.weights, b.weights.bytes.bytes()),
                row_major(DType::i8, b.shape.weights), wanted);
}

std::optional<WindowSize> window_size(const ConvShape& s) {
  const size_t axes = s.dst.size() - 2, at = s.weights.size() - axes;
  if (axes < 1 || axes > 2) return std::nullopt;
  const auto y = [&](const Dims& d, size_t from, int64_t one) { return axes == 1 ? one : d[from]; };
  return WindowSize{s.dst[0],
                    at == 3 ? s.weights[0] : 1,
                    s.src[1],
                    s.dst[1],
                    y(s.src, 2, 1),
                    s.src.back(),
                    y(s.dst, 2, 1),
                    s.dst.back(),
                    y(s.weights, at, 1),
                    s.weights.back(),
                    y(s.strides, 0, 1),
                    s.strides.back(),
                    y(s.dilates, 0, 0) + 1,
                    s.dilates.back() + 1,
                    y(s.begin, 0, 0),
                    s.begin.back()};
}

namespace {

// Sums of whole pixels to bytes. Few channels make short rows: several pixels go at once.
template <class T>
class Requantizer {
 public:
  explicit Requantizer(const Requantize& r) : zero_(r.zero) {
    do {
      scale_.insert(scale_.end(), r.scale.begin(), r.scale.end());
      bias_.insert(bias_.end(), r.bias.begin(), r.bias.end());
    } while (scale_.size() < 512);
  }
  void operator()(const int32_t* sums, std::byte* out, int64_t at, int64_t count) const {
    const auto row = static_cast<int64_t>(scale_.size());
    T* y = reinterpret_cast<T*>(out) + at;
    const auto convert = has_vnni() ? static_cast<Convert>(vnni_requantize) : static_cast<Convert>(requantize_row);
    for (int64_t i = 0; i < count; i += row)
      convert(sums + i, bias_.data(), scale_.data(), y + i, std::min(row, count - i), zero_);
  }

 private:
  using Convert = void (*)(const int32_t*, const int32_t*, const float*, T*, int64_t, float);

  std::vector<float> scale_;
  std::vector<int32_t> bias_;
  float zero_;
};

FinishSums requantizer(DType to, const Requantize& r) {
  if (to == DType::u8) return Requantizer<uint8_t>(r);
  return Requantizer<int8_t>(r);
}

class FinishKernel : public Kernel {
 public:
  FinishKernel(int64_t pixels, int64_t channels, FinishSums finish)
      : pixels_(pixels), channels_(channels), finish_(std::move(finish)) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    return {{floats(pixels_ * channels_)}, {static_cast<uint64_t>(pixels_ * channels_)}};
  }
  void run(const Buffers& b) const override {
    parallel(pixels_, std::max<int64_t>(1, 16384 / channels_), [&](int64_t first, int64_t last) {
      finish_(b.input<int32_t>(0) + first * channels_, b.out[0], first * channels_, (last - first) * channels_);
    });
  }

 private:
  int64_t pixels_, channels_;
  FinishSums finish_;
};

bool is_channels_last(const Desc& d) { return d.dense() && (Physical(d).order.back() == 1 || d.count() == d.dims[1]); }

// The sums of a convolution of bytes, with channels last; no_slot where oneDNN cannot.
SlotId emit_sums(Compiler& c, const ByteConv& b) {
  const ConvShape& s = b.shape;
  ConvPd pd;
  try {
    pd = make_conv(s, false, any_layout(s.src, b.in), any_layout(s.weights, DType::i8), any_layout(s.dst, DType::i32),
                   integer_attr(b.zero_attr()));
  } catch (const dnnl::error&) {
    return no_slot;
  }
  const Desc d = desc_with({DType::i32, s.dst, nullptr}, pd.dst_desc());
  const bool rest = b.weights.has_rest();
  if (!is_channels_last(d)) return no_slot;
  if (rest && (!b.windows || !is_channels_last(desc_with(*c.desc(b.x), pd.src_desc())))) return no_slot;
  const SlotId out = c.make(d), in = in_layout(c, b.x, pd.src_desc());
  std::vector<PrimitiveKernel::Arg> args{{DNNL_ARG_SRC, pd.src_desc(), 0, false},
                                         {DNNL_ARG_WEIGHTS, pd.weights_desc(), 1, false},
                                         {DNNL_ARG_DST, pd.dst_desc(), 0, true}};
  std::vector<SlotId> operands{in, byte_weights(c, b, pd.weights_desc())};
  const SlotId wide = !b.zero || rest ? wide_zero(c, b) : no_slot;
  if (!b.zero) {
    args.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, row_major(DType::i32, {1}), 2, false});
    operands.push_back(wide);
  }
  c.step(b.node, std::string(c.graph()[b.node].op->name),
         std::make_unique<PrimitiveKernel>(dnnl::convolution_forward(pd), std::move(args), pd.scratchpad_desc(),
                                           pd.impl_info_str()),
         std::move(operands), {out});
  if (!rest) return out;
  const SlotId whole = c.make(d);
  c.step(b.node, "zero points", make_window_sums(*b.windows, b.in == DType::i8, b.weights.rest), {out, in, wide},
         {whole});
  return whole;
}

// `w`: which input the weights are; their zero point is the second input behind them, or the fourth.
template <class A>
std::optional<ByteConv> byte_conv(Compiler& c, NodeId n, const A& a, size_t w, size_t w_zero) {
  const Node& node = c.graph()[n];
  const auto shape = conv_shape(*c.desc(node.inputs[0]), *c.desc(node.inputs[w]), *c.desc(node.outputs[0]),
                                {a.auto_pad, a.strides, a.dilations, a.pads, a.group});
  if (!shape) return std::nullopt;
  auto weights = signed_weights(c, node.inputs[w], input_of(node, w_zero), shape->dst[1]);
  if (!weights) return std::nullopt;
  const ValueId zero = input_of(node, 2);
  const DType in = c.desc(node.inputs[0])->dtype;
  if (zero && (c.desc(zero)->count() != 1 || c.desc(zero)->dtype != in)) return std::nullopt;
  return ByteConv{
      n, *shape, node.inputs[0], zero, node.inputs[w], std::move(*weights), constant_zero(c, zero), window_size(*shape),
      in};
}

bool emit_qlinear_conv(Compiler& c, NodeId n, const op::QLinearConv& a) {
  const Node& node = c.graph()[n];
  const ValueId y = node.outputs[0];
  const Desc& d = *c.desc(y);
  const auto b = is_byte(d.dtype) ? byte_conv(c, n, a, 3, 5) : std::nullopt;
  const auto result = b ? conv_result(c, node, b->shape.dst[1]) : std::nullopt;
  if (!result) return false;
  const FinishSums finish = requantizer(d.dtype, *result);
  SlotId out = emit_bytes_in_strips(c, *b, "QLinearConv", d.dtype, finish);
  if (out == no_slot) {
    const SlotId sums = emit_sums(c, *b);
    if (sums == no_slot) return false;
    out = c.make(c.slot_desc(sums).plain() ? d : dense_desc(d.dtype, d.dims, Physical(c.slot_desc(sums)).order));
    const int64_t channels = b->shape.dst[1];
    c.step(n, "requantize", std::make_unique<FinishKernel>(d.count() / channels, channels, finish), {sums}, {out});
  }
  c.bind(y, out);
  return true;
}

// The Cast to f32 that alone reads the sums: what quantize_dynamic writes behind a ConvInteger.
NodeId cast_to_floats(Compiler& c, ValueId sums) {
  const NodeId user = c.only_user(sums);
  const bool is_cast = user && c.graph()[user].is("Cast") && c.desc(c.graph()[user].outputs[0]);
  return is_cast && c.desc(c.graph()[user].outputs[0])->dtype == DType::f32 ? user : NodeId();
}

}  // namespace

bool emit_conv_integer(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!onednn_adds_bytes_exactly() || !is_byte(c.desc(node.inputs[0])->dtype) || c.desc(node.inputs[0])->count() == 0 ||
      c.desc(node.outputs[0])->count() == 0)
    return false;
  if (const auto* q = node.as<op::QLinearConv>()) return emit_qlinear_conv(c, n, *q);
  const auto b = byte_conv(c, n, *node.as<op::ConvInteger>(), 1, 3);
  if (!b) return false;
  if (const NodeId cast = cast_to_floats(c, node.outputs[0])) {
    const auto to_floats = [](const int32_t* sums, std::byte* out, int64_t at, int64_t count) {
      to_float_row(sums, reinterpret_cast<float*>(out) + at, count);
    };
    const SlotId out = emit_bytes_in_strips(c, *b, "ConvInteger+Cast", DType::f32, to_floats);
    if (out != no_slot) {
      c.absorb(cast);
      c.bind(c.graph()[cast].outputs[0], out);
      return true;
    }
  }
  const SlotId sums = emit_sums(c, *b);
  if (sums == no_slot) return false;
  c.bind(node.outputs[0], sums);
  return true;
}

}  // namespace cameo::engine
