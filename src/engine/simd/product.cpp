// MatMul and Gemm of floats, with what follows them. The second operand is packed into panels: once where it is
// constant, else in every run. The first is packed a few rows at a time.
#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/epilogue.h"
#include "engine/simd/image.h"
#include "engine/simd/tiles.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t block_rows = 8 * tile_rows;

struct Size {
  int64_t m = 0, k = 0, n = 0;
  bool transposed = false;           // the second operand is stored as [n, k]
  std::vector<int64_t> a, b;         // where each product's operands begin, in elements
  int64_t a_count = 0, b_count = 0;  // elements of all
  int64_t packed() const { return panels_of(n) * k * tile_columns(); }
};

void pack(const float* b, const Size& s, float* out) {
  const int64_t width = tile_columns();
  parallel(panels_of(s.n), std::max<int64_t>(1, 16384 / (s.k * width + 1)), [&](int64_t first, int64_t last) {
    for (int64_t p = first; p < last; ++p)
      pack_panel(b + p * width * (s.transposed ? s.k : 1), s.transposed ? 1 : s.n, s.transposed ? s.k : 1, s.k,
                 std::min(width, s.n - p * width), out + p * s.k * width);
  });
}

class ProductKernel : public Kernel {
 public:
  ProductKernel(Size s, bool is_packed, bool bias, Epilogue after)
      : s_(std::move(s)), is_packed_(is_packed), bias_(bias), after_(std::move(after)) {
    if (!is_packed_) scratch_bytes = floats(s_.packed());
  }
  std::string about() const override { return "tiles"; }
  Extents extents() const override {
    const int64_t out = static_cast<int64_t>(s_.a.size()) * s_.m * s_.n;
    Extents e{{floats(s_.a_count), floats(is_packed_ ? s_.packed() : s_.b_count)}, {floats(out)}};
    if (bias_) e.in.push_back(floats(s_.n));
    for (size_t i = 0; i < after_.operands(); ++i) e.in.push_back(floats(out));
    return e;
  }

  void run(const Buffers& b) const override {
    const float* panels = b.input<float>(1);
    const int64_t blocks = (s_.m + block_rows - 1) / block_rows;
    const int64_t cuts = std::clamp<int64_t>(current_threads() / blocks, 1, panels_of(s_.n));
    for (size_t i = 0; i < s_.a.size(); ++i) {
      if (!is_packed_ && (i == 0 || s_.b[i] != s_.b[i - 1])) {
        auto* packed = reinterpret_cast<float*>(b.scratch);
        pack(b.input<float>(1) + s_.b[i], s_, packed);
        panels = packed;
      }
      parallel(blocks * cuts, 1, [&](int64_t first, int64_t last) {
        std::vector<float> rows(static_cast<size_t>(block_rows * std::min(tile_depth, s_.k)));
        for (int64_t t = first; t < last; ++t)
          block(b, i, panels, t / cuts * block_rows, panels_of(s_.n) * (t % cuts) / cuts,
                panels_of(s_.n) * (t % cuts + 1) / cuts, rows.data());
      });
    }
  }

 private:
  // Rows from `top` on, panels from `first` to `last`.
  void block(const Buffers& b, size_t product, const float* panels, int64_t top, int64_t first, int64_t last,
             float* packed) const {
    const int64_t width = tile_columns(), count = std::min(block_rows, s_.m - top);
    const int64_t start = (static_cast<int64_t>(product) * s_.m + top) * s_.n;
    const float* a = b.input<float>(0) + s_.a[product] + top * s_.k;
    float* c = b.output<float>(0) + start;
    for (int64_t k = 0; k < s_.k; k += tile_depth) {
      const int64_t depth = std::min(tile_depth, s_.k - k);
      for (int64_t i = 0; i < count; i += tile_rows)
        pack_tile(a + i * s_.k + k, s_.k, std::min(tile_rows, count - i), depth, packed + i * depth);
      for (int64_t p = first; p < last; ++p)
        for (int64_t i = 0; i < count; i += tile_rows)
          tile_product(packed + i * depth, panels + (p * s_.k + k) * width, depth, c + i * s_.n + p * width, s_.n,
                       std::min(tile_rows, count - i), std::min(width, s_.n - p * width), k > 0);
    }
    const int64_t from = first * width, columns = std::min(last * width, s_.n) - from;
    for (int64_t i = 0; i < count; ++i) {
      float* row = c + i * s_.n + from;
      if (bias_) binary_row(Binary::add, row, b.input<float>(2) + from, row, columns);
      after_.apply(b, start + i * s_.n + from, columns);
    }
  }

  Size s_;
  bool is_packed_, bias_;
  Epilogue after_;
};

// One number per column: [n], or with leading ones.
bool is_row(const Desc& d, int64_t n) { return d.count() == n && !d.dims.empty() && d.dims.back() == n; }

bool emit(Compiler& c, NodeId n, Size s, ValueId bias) {
  const Node& node = c.graph()[n];
  const ValueId weights = node.inputs[1];
  const bool constant = c.is_constant(weights) && s.b_count == s.k * s.n;
  Followers followers(c, n, node.outputs[0]);
  const Epilogue after = followers.fuse(bias ? 3 : 2);
  std::vector<SlotId> in{c.plain(node.inputs[0])};
  if (constant) {
    const auto make = [&] {
      const Bytes out = c.store().allocate(floats(s.packed()));
      pack(Floats(*c.constant(weights)).data(), s, reinterpret_cast<float*>(writable(out)));
      return out;
    };
    const std::string key = c.key(weights, s.transposed ? "tiles nk" : "tiles kn");
    const Bytes packed = key.empty() ? make() : c.store().get(key, make);
    in.push_back(c.add_constant(Tensor(DType::f32, {s.packed()}, packed), {DType::f32, {s.packed()}, nullptr}));
  } else {
    in.push_back(c.plain(weights));
  }
  if (bias) in.push_back(c.plain(bias));
  followers.finish(std::make_unique<ProductKernel>(std::move(s), constant, static_cast<bool>(bias), after), in);
  return true;
}

// The offsets of each product's operand along the result's leading axes; 0 where it is repeated.
std::vector<int64_t> starts_of(const Desc& operand, std::span<const int64_t> batch) {
  const size_t own = operand.rank() - 2;
  std::vector<int64_t> out{0};
  int64_t step = operand.dims[own] * operand.dims[own + 1];
  std::vector<int64_t> steps(batch.size(), 0);
  for (size_t i = 0; i < own; ++i) {
    const size_t axis = own - 1 - i, to = batch.size() - 1 - i;
    if (operand.dims[axis] != 1) steps[to] = step;
    step *= operand.dims[axis];
  }
  for (size_t axis = 0; axis < batch.size(); ++axis) {
    std::vector<int64_t> more;
    for (const int64_t start : out)
      for (int64_t i = 0; i < batch[axis]; ++i) more.push_back(start + i * steps[axis]);
    out = std::move(more);
  }
  return out;
}

bool all_f32(const Compiler& c, const Node& n) {
  return c.is_f32(n.inputs[0]) && c.is_f32(n.inputs[1]) && c.is_f32(n.outputs[0]);
}

}  // namespace

bool emit_float_matmul(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!all_f32(c, node)) return false;
  const Desc &a = *c.desc(node.inputs[0]), &b = *c.desc(node.inputs[1]), &y = *c.desc(node.outputs[0]);
  if (a.rank() < 2 || b.rank() < 2 || y.rank() != std::max(a.rank(), b.rank()) || a.dims.back() != b.dims[b.rank() - 2])
    return false;
  Size s;
  s.k = a.dims.back(), s.n = b.dims.back(), s.a_count = a.count(), s.b_count = b.count();
  if (b.count() == s.k * s.n) {  // one matrix for all rows
    s.m = a.count() / s.k;
    s.a = s.b = {0};
  } else {
    constexpr int64_t most = 1 << 16;  // products; their places are listed
    s.m = a.dims[a.rank() - 2];
    if (y.count() / (s.m * s.n) > most) return false;
    const std::span<const int64_t> batch(y.dims.data(), y.rank() - 2);
    s.a = starts_of(a, batch), s.b = starts_of(b, batch);
  }
  return emit(c, n, std::move(s), {});
}

bool emit_float_gemm(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::Gemm>();
  if (!a || a->alpha != 1 || a->transA || !all_f32(c, node)) return false;
  const Desc &x = *c.desc(node.inputs[0]), &w = *c.desc(node.inputs[1]), &y = *c.desc(node.outputs[0]);
  if (x.rank() != 2 || w.rank() != 2 || y.dims[0] != x.dims[0] ||
      w.dims != (a->transB ? std::vector{y.dims[1], x.dims[1]} : std::vector{x.dims[1], y.dims[1]}))
    return false;
  const ValueId bias = c.graph().input(n, 2);
  if (bias && (a->beta != 1 || !c.is_f32(bias) || !is_row(*c.desc(bias), y.dims[1]))) return false;
  Size s{x.dims[0], x.dims[1], y.dims[1], a->transB != 0, {0}, {0}, x.count(), w.count()};
  return emit(c, n, std::move(s), bias);
}

}  // namespace cameo::engine
