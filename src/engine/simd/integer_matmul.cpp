// MatMulInteger and QLinearMatMul with constant weights, on any processor: exact sums of products of 16 bits.
#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/integer.h"
#include "engine/simd/integer_rows.h"
#include "engine/simd/quantize_rows.h"
#include "kernels/carrier.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

struct Size {
  int64_t m, k, n;
  int64_t pairs() const { return (k + 1) / 2; }
  int64_t panels() const { return (n + panel_columns - 1) / panel_columns; }
};

// The weights less their zero points, in panels.
Bytes pack(Compiler& c, ValueId v, ValueId zero, const Size& s) {
  const Loaded<int64_t> w(*c.constant(v));
  std::vector<int64_t> z(static_cast<size_t>(s.n), 0);
  if (zero) {
    const Loaded<int64_t> given(*c.constant(zero));
    for (int64_t j = 0; j < s.n; ++j) z[static_cast<size_t>(j)] = given[given.size() == 1 ? 0 : j];
  }
  const Bytes out = c.store().allocate(static_cast<uint64_t>(s.panels() * panel_size(s.pairs())) * 2);
  auto* p = reinterpret_cast<int16_t*>(writable(out));
  std::fill_n(p, s.panels() * panel_size(s.pairs()), int16_t{0});
  for (int64_t k = 0; k < s.k; ++k)
    for (int64_t j = 0; j < s.n; ++j)
      p[j / panel_columns * panel_size(s.pairs()) + (k / 2 * panel_columns + j % panel_columns) * 2 + k % 2] =
          static_cast<int16_t>(w[k * s.n + j] - z[static_cast<size_t>(j)]);
  return out;
}

// Inputs: bytes, packed weights, the bytes' zero point where it varies; with Out a byte type the scales.
template <class In, class Out>
class ProductKernel : public Kernel {
 public:
  ProductKernel(const Size& s, int32_t zero, bool zero_varies, Requantize result)
      : s_(s), zero_(zero), varies_(zero_varies), result_(std::move(result)) {}
  std::string about() const override { return "integers"; }
  Extents extents() const override {
    Extents e{{static_cast<uint64_t>(s_.m * s_.k), static_cast<uint64_t>(s_.panels() * panel_size(s_.pairs())) * 2},
              {static_cast<uint64_t>(s_.m * s_.n) * sizeof(Out)}};
    if (varies_) e.in.push_back(1);
    return e;
  }

  void run(const Buffers& b) const override {
    const int32_t zero = varies_ ? *b.input<In>(2) : zero_;
    // Rows that fill half of a second-level cache stay there while the weights go by.
    const int64_t block = std::clamp<int64_t>((256 * 1024) / (4 * s_.pairs()) / 6 * 6, 6, 96),
                  blocks = (s_.m + block - 1) / block;
    const int64_t cuts = blocks >= current_threads() ? 1 : std::min<int64_t>(s_.panels(), current_threads());
    parallel(blocks * cuts,
             std::max<int64_t>(1, 262144 / std::max<int64_t>(1, std::min(block, s_.m) * s_.k * s_.n / cuts)),
             [&](int64_t first, int64_t last) {
               std::vector<int16_t> rows(static_cast<size_t>(std::min(block, s_.m) * 2 * s_.pairs()));
               std::vector<int32_t> sums(static_cast<size_t>(std::min(block, s_.m) * panel_columns));
               for (int64_t t = first; t < last; ++t) {
                 const int64_t top = t / cuts * block, count = std::min(block, s_.m - top), cut = t % cuts;
                 for (int64_t i = 0; i < count; ++i)
                   centre_row(b.input<In>(0) + (top + i) * s_.k, rows.data() + i * 2 * s_.pairs(), s_.k, zero);
                 for (int64_t p = s_.panels() * cut / cuts; p < s_.panels() * (cut + 1) / cuts; ++p) {
                   panel_product(rows.data(), 2 * s_.pairs(), count, b.input<int16_t>(1) + p * panel_size(s_.pairs()),
                                 s_.pairs(), sums.data(), panel_columns);
                   for (int64_t i = 0; i < count; ++i)
                     put(b, top + i, p * panel_columns, sums.data() + i * panel_columns);
                 }
               }
             });
  }

 private:
  void put(const Buffers& b, int64_t row, int64_t column, const int32_t* sums) const {
    const int64_t n = std::min(panel_columns, s_.n - column);
    Out* y = b.output<Out>(0) + row * s_.n + column;
    if constexpr (std::is_same_v<Out, int32_t>) std::copy_n(sums, n, y);
    else requantize_product_row(sums, result_.scale.data() + column, y, n, result_.zero);
  }

  Size s_;
  int32_t zero_;
  bool varies_;
  Requantize result_;
};

template <class Out>
std::unique_ptr<Kernel> make_kernel(DType in, const Size& s, int32_t zero, bool varies, Requantize r) {
  if (in == DType::u8) return std::make_unique<ProductKernel<uint8_t, Out>>(s, zero, varies, std::move(r));
  return std::make_unique<ProductKernel<int8_t, Out>>(s, zero, varies, std::move(r));
}

}  // namespace

bool emit_integer_product(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const bool quantized = node.is("QLinearMatMul");
  const ValueId x = node.inputs[0], x_zero = input_of(node, 2), w = node.inputs[quantized ? 3 : 1],
                w_zero = input_of(node, quantized ? 5 : 3), y = node.outputs[0];
  const Desc &a = *c.desc(x), &b = *c.desc(w);
  if (!is_byte(a.dtype) || !is_byte(b.dtype) || b.rank() != 2 || a.rank() < 2 || a.count() == 0 || b.count() == 0 ||
      b.dims[0] > deepest_sum || a.dims.back() != b.dims[0])
    return false;
  if (!c.is_constant(w) ||
      (w_zero && (!c.is_constant(w_zero) || (c.desc(w_zero)->count() != 1 && c.desc(w_zero)->count() != b.dims[1]))))
    return false;
  if (x_zero && (c.desc(x_zero)->count() != 1 || c.desc(x_zero)->dtype != a.dtype)) return false;
  const Size s{a.count() / b.dims[0], b.dims[0], b.dims[1]};
  const DType to = c.desc(y)->dtype;
  const auto zero = constant_zero(c, x_zero);
  const auto result = quantized ? product_result(c, node, s.n) : std::optional(Requantize{});
  if (!result || (quantized ? !is_byte(to) : to != DType::i32)) return false;
  std::unique_ptr<Kernel> kernel;
  if (to == DType::i32) kernel = make_kernel<int32_t>(a.dtype, s, zero.value_or(0), !zero, *result);
  else if (to == DType::u8) kernel = make_kernel<uint8_t>(a.dtype, s, zero.value_or(0), !zero, *result);
  else kernel = make_kernel<int8_t>(a.dtype, s, zero.value_or(0), !zero, *result);
  const auto make = [&] { return pack(c, w, w_zero, s); };
  const std::string key = c.key(w, cat("panels", w_zero ? cat(w_zero.index) : ""));
  const Bytes packed = key.empty() ? make() : c.store().get(key, make);
  const Tensor panels(DType::i16, {narrow<int64_t>(packed.size() / 2)}, packed);
  std::vector<SlotId> in{c.plain(x), c.add_constant(panels, {DType::i16, panels.shape(), nullptr})};
  if (!zero) in.push_back(c.plain(x_zero));
  const SlotId out = c.make(*c.desc(y));
  c.step(n, std::string(node.op->name), std::move(kernel), std::move(in), {out});
  c.bind(y, out);
  return true;
}

}  // namespace cameo::engine
