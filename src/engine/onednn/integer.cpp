// Products of bytes: oneDNN adds them up exactly in 32 bits, and what ONNX wants of zero points and scales is done to
// the sums in our vector code, so that results are the reference's bit for bit.
#include "engine/onednn/integer.h"

#include "engine/emit.h"
#include "engine/onednn/emitters.h"
#include "engine/parallel.h"
#include "engine/simd/quantize_rows.h"
#include "kernels/carrier.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

// Without these instructions oneDNN adds pairs of products in 16 bits, which may saturate.
bool onednn_adds_bytes_exactly() {
  static const bool exact = load_onednn() && (static_cast<unsigned>(dnnl_get_effective_cpu_isa()) &
                                              dnnl_cpu_isa_avx512_core_vnni) == dnnl_cpu_isa_avx512_core_vnni;
  return exact;
}

std::optional<SignedWeights> signed_weights(Compiler& c, ValueId v, ValueId zero, int64_t channels) {
  if (!c.is_constant(v) || (zero && !c.is_constant(zero)) || !is_byte(c.desc(v)->dtype)) return std::nullopt;
  const Tensor w = *c.constant(v);
  const int32_t shift = w.dtype() == DType::u8 ? 128 : 0;
  SignedWeights out{w, std::vector<int32_t>(static_cast<size_t>(channels), shift)};
  if (zero) {
    const Loaded<int64_t> z(*c.constant(zero));
    if (z.size() != 1 && z.size() != channels) return std::nullopt;
    for (size_t i = 0; i < out.rest.size(); ++i)
      out.rest[i] -= static_cast<int32_t>(z[z.size() == 1 ? 0 : static_cast<int64_t>(i)]);
  }
  if (shift) {
    std::vector<int8_t> moved;
    moved.reserve(static_cast<size_t>(w.count()));
    for (const uint8_t b : w.as<uint8_t>()) moved.push_back(static_cast<int8_t>(static_cast<int>(b) - shift));
    out.bytes = Tensor::of<int8_t>(DType::i8, w.shape(), moved);
  }
  return out;
}

SlotId constant_row(Compiler& c, const std::vector<int32_t>& v) {
  const Tensor t = Tensor::of<int32_t>(DType::i32, {static_cast<int64_t>(v.size())}, v);
  return c.add_constant(t, {DType::i32, t.shape(), nullptr});
}

dnnl::primitive_attr integer_attr(int32_t zero) {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (zero) attr.set_zero_points(DNNL_ARG_SRC, 0, {zero});
  return attr;
}

namespace {

// sums[m,n] of a[m,k] b[k,n], corrected for the zero points: inputs sums, the columns' sums, what is left of b's zero
// points, a, a's zero point if it has one.
class CorrectKernel : public Kernel {
 public:
  CorrectKernel(const ProductSize& s, bool is_signed, bool rest, bool zero)
      : s_(s), signed_(is_signed), rest_(rest), zero_(zero) {
    accumulates = 0;
  }
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const uint64_t sums = floats(s_.m * s_.n), row = floats(s_.n);
    Extents e{{sums, row, row, static_cast<uint64_t>(s_.m * s_.k)}, {sums}};
    if (zero_) e.in.push_back(1);
    return e;
  }
  void run(const Buffers& b) const override {
    const int32_t zero = !zero_ ? 0 : signed_ ? *b.input<int8_t>(4) : *b.input<uint8_t>(4);
    parallel(s_.m, std::max<int64_t>(1, 16384 / s_.n), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        int32_t* row = b.output<int32_t>(0) + i * s_.n;
        if (zero) add_multiple_row(row, b.input<int32_t>(1), -zero, s_.n);
        if (rest_)
          add_multiple_row(row, b.input<int32_t>(2),
                           signed_ ? sum_bytes_row(b.input<int8_t>(3) + i * s_.k, s_.k)
                                   : sum_bytes_row(b.input<uint8_t>(3) + i * s_.k, s_.k),
                           s_.n);
      }
    });
  }

 private:
  ProductSize s_;
  bool signed_, rest_, zero_;
};

// The exact sums of a product with constant weights, zero points taken care of; no_slot where oneDNN cannot.
SlotId emit_product_sums(Compiler& c, NodeId n, ValueId a, ValueId a_zero, ValueId b, ValueId b_zero,
                         const std::vector<int64_t>& dims) {
  const Desc &x = *c.desc(a), &w = *c.desc(b);
  if (!onednn_adds_bytes_exactly() || !is_byte(x.dtype) || w.rank() != 2 || x.rank() < 2 || x.count() == 0 ||
      w.count() == 0)
    return no_slot;
  constexpr int64_t most = 1 << 20;  // products in a sum, so that sums of bytes fit in 32 bits
  if (x.dims.back() != w.dims[0] || w.dims[0] > most ||
      (a_zero && (c.desc(a_zero)->count() != 1 || c.desc(a_zero)->dtype != x.dtype)))
    return no_slot;
  const ProductSize s{x.count() / w.dims[0], w.dims[0], w.dims[1]};
  const auto weights = signed_weights(c, b, b_zero, s.n);
  if (!weights) return no_slot;
  const Md src = row_major(x.dtype, {s.m, s.k}), dst = row_major(DType::i32, {s.m, s.n});
  dnnl::matmul::primitive_desc pd;
  try {
    pd = dnnl::matmul::primitive_desc({src, any_layout(w.dims, DType::i8), dst}, integer_attr(0), cpu());
  } catch (const dnnl::error&) {
    return no_slot;
  }
  std::vector<int32_t> columns(static_cast<size_t>(s.n), 0);
  const auto bytes = weights->bytes.as<int8_t>();
  for (size_t i = 0; i < bytes.size(); ++i) columns[i % columns.size()] += bytes[i] + weights->rest[i % columns.size()];
  const bool rest = weights->has_rest();
  const SlotId in = c.plain(a), sums = c.make({DType::i32, dims, nullptr});
  std::vector<PrimitiveKernel::Arg> args{
      {DNNL_ARG_SRC, src, 0, false}, {DNNL_ARG_WEIGHTS, pd.weights_desc(), 1, false}, {DNNL_ARG_DST, dst, 0, true}};
  c.step(n, std::string(c.graph()[n].op->name),
         std::make_unique<PrimitiveKernel>(dnnl::matmul(pd), std::move(args), pd.scratchpad_desc(), pd.impl_info_str()),
         {in, packed(c, b, "int8", weights->bytes, row_major(DType::i8, w.dims), pd.weights_desc())}, {sums});
  if (!rest && (!a_zero || constant_zero(c, a_zero) == 0)) return sums;
  const SlotId out = c.make({DType::i32, dims, nullptr});
  std::vector<SlotId> more{sums, constant_row(c, columns), constant_row(c, weights->rest), in};
  if (a_zero) more.push_back(c.plain(a_zero));
  c.step(n, "zero points", std::make_unique<CorrectKernel>(s, x.dtype == DType::i8, rest, a_zero.valid()),
         std::move(more), {out});
  return out;
}

// Sums of a product to bytes, a scale per column.
template <class T>
class ProductResultKernel : public Kernel {
 public:
  ProductResultKernel(int64_t rows, Requantize result) : rows_(rows), result_(std::move(result)) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const auto count = rows_ * static_cast<int64_t>(result_.scale.size());
    return {{floats(count)}, {static_cast<uint64_t>(count)}};
  }
  void run(const Buffers& b) const override {
    const auto n = static_cast<int64_t>(result_.scale.size());
    parallel(rows_, std::max<int64_t>(1, 16384 / n), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        requantize_product_row(b.input<int32_t>(0) + i * n, result_.scale.data(), b.output<T>(0) + i * n, n,
                               result_.zero);
    });
  }

 private:
  int64_t rows_;
  Requantize result_;
};

}  // namespace

bool emit_matmul_integer(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const SlotId sums = emit_product_sums(c, n, node.inputs[0], input_of(node, 2), node.inputs[1], input_of(node, 3),
                                        c.desc(node.outputs[0])->dims);
  if (sums == no_slot) return false;
  c.bind(node.outputs[0], sums);
  return true;
}

bool emit_qlinear_matmul(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const Desc &w = *c.desc(node.inputs[3]), &y = *c.desc(node.outputs[0]);
  if (w.rank() != 2 || !is_byte(y.dtype)) return false;
  auto result = product_result(c, node, w.dims[1]);
  if (!result) return false;
  const SlotId sums = emit_product_sums(c, n, node.inputs[0], node.inputs[2], node.inputs[3], node.inputs[5], y.dims);
  if (sums == no_slot) return false;
  const SlotId out = c.make(y);
  std::unique_ptr<Kernel> kernel;
  if (y.dtype == DType::u8)
    kernel = std::make_unique<ProductResultKernel<uint8_t>>(y.count() / w.dims[1], std::move(*result));
  else kernel = std::make_unique<ProductResultKernel<int8_t>>(y.count() / w.dims[1], std::move(*result));
  c.step(n, "requantize", std::move(kernel), {sums}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
