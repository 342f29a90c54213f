#include "engine/simd/blocked_product.h"

#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/blocked_operands.h"
#include "engine/simd/integer.h"
#include "engine/simd/vnni_rows.h"
#include "ops/quant/matmul_nbits.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t level_of_bytes = 4;  // accuracy_level that lets data be rounded to 8 bits

class BlockedProductKernel : public Kernel {
 public:
  BlockedProductKernel(const BlockedOperands& s, MultiplyTile multiply) : s_(s), multiply_(multiply) {}
  std::string about() const override { return cat("weights of ", s_.weight.bits, " bits"); }
  Extents extents() const override { return s_.extents(); }

  void run(const Buffers& b) const override {
    constexpr int64_t few = 4;  // rows, for which the weights are read anew each time
    if (s_.rows <= few && has_blocked_dots()) run_rows(b);
    else if (s_.rows >= panel_width && has_blocked_dots()) run_turned(b);
    else if (has_blocked_dots()) run_panels(b);
    else run_tiles(b);
    s_.add_bias(b);
  }

 private:
  void run_rows(const Buffers& b) const {
    const BlockedSize& w = s_.weight;
    std::vector<float> arranged(static_cast<size_t>(arranged_size(w))), sums(static_cast<size_t>(w.blocks));
    for (int64_t i = 0; i < s_.rows; ++i) {
      arrange_for_dots(w, b.input<float>(0) + i * w.depth, arranged.data(), sums.data());
      const int64_t groups = (s_.columns + blocked_dots_at_once - 1) / blocked_dots_at_once;
      parallel(groups, std::max<int64_t>(1, 65536 / w.depth), [&](int64_t first, int64_t last) {
        std::vector<float> zeros(static_cast<size_t>(s_.zeros_size() * blocked_dots_at_once));
        for (int64_t g = first; g < last; ++g) {
          const int64_t from = g * blocked_dots_at_once, count = std::min(blocked_dots_at_once, s_.columns - from);
          BlockedRow rows[blocked_dots_at_once];
          for (int64_t j = 0; j < count; ++j) rows[j] = s_.row(b, from + j, zeros.data() + j * s_.zeros_size());
          blocked_dots(w, rows, count, arranged.data(), sums.data(), b.output<float>(0) + i * s_.columns + from);
        }
      });
    }
  }

  // Both sides in the order in which codes come out of their bytes.
  void run_panels(const Buffers& b) const {
    const BlockedSize& w = s_.weight;
    const int64_t depth = arranged_size(w);
    std::vector<float> x(static_cast<size_t>(s_.rows * depth)), sums(static_cast<size_t>(w.blocks));
    for (int64_t i = 0; i < s_.rows; ++i)
      arrange_for_dots(w, b.input<float>(0) + i * w.depth, x.data() + i * depth, sums.data());
    parallel((s_.columns + panel_width - 1) / panel_width, 1, [&](int64_t first, int64_t last) {
      std::vector<float> numbers(static_cast<size_t>(panel_width * panel_depth())),
          panel(static_cast<size_t>(panel_width * panel_depth())),
          zeros(static_cast<size_t>(panel_width * s_.zeros_size()));
      for (int64_t t = first; t < last; ++t) one_panel(b, x, t * panel_width, numbers, panel, zeros);
    });
  }

  // At least 64 rows: they are the panel, turned once, and the weights its rows. The result comes out turned.
  void run_turned(const Buffers& b) const {
    const BlockedSize& w = s_.weight;
    const int64_t depth = arranged_size(w), groups = (s_.rows + panel_width - 1) / panel_width;
    std::vector<float> turned(static_cast<size_t>(groups * panel_width * depth)), sums(static_cast<size_t>(w.blocks)),
        x(static_cast<size_t>(panel_width * depth));
    for (int64_t g = 0; g < groups; ++g) {
      for (int64_t i = 0; i < std::min(panel_width, s_.rows - g * panel_width); ++i)
        arrange_for_dots(w, b.input<float>(0) + (g * panel_width + i) * w.depth, x.data() + i * depth, sums.data());
      turn_panel(x.data(), depth, turned.data() + g * panel_width * depth);
    }
    parallel((s_.columns + at_once - 1) / at_once, 1, [&](int64_t first, int64_t last) {
      std::vector<float> numbers(static_cast<size_t>(at_once * depth)), zeros(static_cast<size_t>(s_.zeros_size()));
      for (int64_t t = first; t < last; ++t) some_columns(b, turned, t * at_once, numbers, zeros);
    });
  }

  void some_columns(const Buffers& b, const std::vector<float>& turned, int64_t from, std::vector<float>& numbers,
                    std::vector<float>& zeros) const {
    const BlockedSize& w = s_.weight;
    const int64_t count = std::min(at_once, s_.columns - from), depth = arranged_size(w);
    for (int64_t j = 0; j < count; ++j)
      read_arranged_row(w, s_.row(b, from + j, zeros.data()), numbers.data() + j * depth);
    float y[at_once * panel_width];
    for (int64_t i = 0; i < s_.rows; i += panel_width) {
      for (int64_t k = 0; k < depth; k += near)
        multiply_panel({count, std::min(near, depth - k), panel_width, numbers.data() + k, depth,
                        turned.data() + i * depth + k * panel_width, y, panel_width, k > 0});
      vnni_transpose(reinterpret_cast<const int32_t*>(y), panel_width,
                     reinterpret_cast<int32_t*>(b.output<float>(0) + i * s_.columns + from), s_.columns, count,
                     std::min(panel_width, s_.rows - i));
    }
  }

  static constexpr int64_t at_once = 24;  // columns, whose numbers stay in cache
  static constexpr int64_t near = 128;    // depth of a panel that stays in the first level of it

  // Blocks that a panel holds: so many that it stays in cache with the numbers it is made of.
  int64_t panel_blocks() const { return std::min(s_.weight.blocks, std::max<int64_t>(1, 512 / s_.weight.block)); }
  int64_t panel_depth() const {
    BlockedSize part = s_.weight;
    part.blocks = panel_blocks();
    return arranged_size(part);
  }

  void one_panel(const Buffers& b, const std::vector<float>& x, int64_t from, std::vector<float>& numbers,
                 std::vector<float>& panel, std::vector<float>& zeros) const {
    const BlockedSize& w = s_.weight;
    const int64_t count = std::min(panel_width, s_.columns - from), depth = arranged_size(w);
    BlockedRow rows[panel_width];
    for (int64_t j = 0; j < count; ++j) rows[j] = s_.row(b, from + j, zeros.data() + j * s_.zeros_size());
    for (int64_t at = 0; at < w.blocks; at += panel_blocks()) {
      BlockedSize part = w;
      part.blocks = std::min(panel_blocks(), w.blocks - at);
      const int64_t k = arranged_size(part);
      for (int64_t j = 0; j < count; ++j) {
        const BlockedRow& r = rows[j];
        read_arranged_row(part, {r.codes + at * w.block_bytes(), r.scales + at, r.zeros ? r.zeros + at : nullptr},
                          numbers.data() + j * k);
      }
      turn_panel(numbers.data(), k, panel.data());
      multiply_panel({s_.rows, k, count, x.data() + at * w.block_bytes() * (8 / w.bits), depth, panel.data(),
                      b.output<float>(0) + from, s_.columns, at > 0});
    }
  }

  // As many columns as stay in cache.
  void run_tiles(const Buffers& b) const {
    const BlockedSize& w = s_.weight;
    const int64_t padded = w.blocks * w.block, wide = std::clamp<int64_t>(131072 / padded, 16, 256),
                  tiles = (s_.columns + wide - 1) / wide;
    parallel(tiles, 1, [&](int64_t first, int64_t last) {
      const ThreadScope alone(1);
      std::vector<float> numbers(static_cast<size_t>(wide * padded)), zeros(static_cast<size_t>(s_.zeros_size()));
      for (int64_t t = first; t < last; ++t) {
        const int64_t from = t * wide, count = std::min(wide, s_.columns - from);
        for (int64_t j = 0; j < count; ++j)
          read_blocked_row(w, s_.row(b, from + j, zeros.data()), numbers.data() + j * padded);
        multiply_({s_.rows, w.depth, count, b.input<float>(0), numbers.data(), padded, b.output<float>(0) + from,
                   s_.columns});
      }
    });
  }

  BlockedOperands s_;
  MultiplyTile multiply_;
};

}  // namespace

void multiply_tile_by_rows(const FloatTile& t) {
  for (int64_t i = 0; i < t.m; ++i)
    for (int64_t j = 0; j < t.n; ++j) t.y[i * t.y_row + j] = dot_row(t.x + i * t.k, t.w + j * t.w_row, t.k);
}

bool emit_blocked_product(Compiler& c, NodeId n, MultiplyTile multiply) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::MatMulNBits>();
  const ValueId zeros = input_of(node, 3), groups = input_of(node, 4), bias = input_of(node, 5);
  if (!a || groups || !c.is_f32(node.inputs[0]) || c.desc(node.outputs[0])->count() == 0) return false;
  const BlockedWeight w(*a);
  const auto packed = [&] { return c.desc(zeros)->dtype == DType::u8; };
  const BlockedOperands operands{{w.depth, w.blocks, w.block, w.bits},
                                 c.desc(node.inputs[0])->count() / w.depth,
                                 w.columns,
                                 w.zero_bytes(),
                                 !zeros     ? BlockedZeros::none
                                 : packed() ? BlockedZeros::packed
                                            : BlockedZeros::floats,
                                 bias.valid()};
  std::vector<SlotId> in{c.plain(node.inputs[0]), c.bytes_of(node.inputs[1]), c.plain(node.inputs[2])};
  for (const ValueId v : {zeros, bias})
    if (v) in.push_back(c.plain(v));
  const SlotId out = c.make(*c.desc(node.outputs[0]));
  const bool rounds = a->accuracy_level.value_or(0) == level_of_bytes && has_vnni();
  std::unique_ptr<Kernel> kernel = std::make_unique<BlockedProductKernel>(operands, multiply);
  if (rounds) kernel = make_byte_blocked_product(operands);
  c.step(n, "MatMulNBits", std::move(kernel), std::move(in), {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
