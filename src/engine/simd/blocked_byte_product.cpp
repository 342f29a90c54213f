// MatMulNBits with data rounded to bytes, as accuracy_level 4 allows.
#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/blocked_bytes.h"
#include "engine/simd/blocked_operands.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

// Rows of the left side, rounded.
struct RoundedRows {
  RoundedRows(const BlockedSize& s, int64_t rows, int64_t run)
      : bytes(static_cast<size_t>(rows * rounded_size(s, run))),
        scales(static_cast<size_t>(rows * s.blocks)),
        sums(static_cast<size_t>(rows * s.blocks)) {}

  std::vector<int8_t> bytes;
  std::vector<float> scales, sums;
};

class ByteBlockedKernel : public Kernel {
 public:
  explicit ByteBlockedKernel(const BlockedOperands& s) : s_(s) {}
  std::string about() const override { return cat("weights of ", s_.weight.bits, " bits, data of 8"); }
  Extents extents() const override { return s_.extents(); }

  void run(const Buffers& b) const override {
    constexpr int64_t few = 4;  // rows, for which the weights are read anew each time
    if (s_.rows <= few) run_rows(b);
    else run_panels(b);
    s_.add_bias(b);
  }

 private:
  RoundedRows rounded(const Buffers& b, int64_t run) const {
    const BlockedSize& w = s_.weight;
    RoundedRows out(w, s_.rows, run);
    const int64_t size = rounded_size(w, run);
    parallel(s_.rows, std::max<int64_t>(1, 32768 / w.depth), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) round_row(w, b.input<float>(0) + i * w.depth, run, at(out, i, size));
    });
    return out;
  }
  RoundedRow at(RoundedRows& x, int64_t i, int64_t size) const {
    return {x.bytes.data() + i * size, x.scales.data() + i * s_.weight.blocks, x.sums.data() + i * s_.weight.blocks};
  }

  void run_rows(const Buffers& b) const {
    const BlockedSize& w = s_.weight;
    RoundedRows x = rounded(b, byte_run);
    constexpr int64_t at_once = blocked_dots_at_once;
    const int64_t groups = (s_.columns + at_once - 1) / at_once, size = rounded_size(w, byte_run);
    parallel(groups, std::max<int64_t>(1, 131072 / (w.depth * s_.rows)), [&](int64_t first, int64_t last) {
      std::vector<float> zeros(static_cast<size_t>(s_.zeros_size() * at_once)),
          scales(static_cast<size_t>(byte_dot_room(w) * at_once));
      for (int64_t g = first; g < last; ++g) {
        const int64_t from = g * at_once, count = std::min(at_once, s_.columns - from);
        BlockedRow rows[at_once];
        for (int64_t j = 0; j < count; ++j) rows[j] = s_.row(b, from + j, zeros.data() + j * s_.zeros_size());
        for (int64_t i = 0; i < s_.rows; ++i)
          byte_dots(w, rows, count, at(x, i, size), scales.data(), b.output<float>(0) + i * s_.columns + from);
      }
    });
  }

  void run_panels(const Buffers& b) const {
    const BlockedSize& w = s_.weight;
    RoundedRows x = rounded(b, panel_run(w));
    parallel((s_.columns + byte_panel_width - 1) / byte_panel_width, 1, [&](int64_t first, int64_t last) {
      BytePanel panel = make_byte_panel(w);
      std::vector<float> zeros(static_cast<size_t>(s_.zeros_size() * byte_panel_width));
      for (int64_t t = first; t < last; ++t) {
        const int64_t from = t * byte_panel_width, count = std::min(byte_panel_width, s_.columns - from);
        BlockedRow rows[byte_panel_width];
        for (int64_t j = 0; j < count; ++j) rows[j] = s_.row(b, from + j, zeros.data() + j * s_.zeros_size());
        fill_byte_panel(w, rows, count, panel);
        multiply_byte_panel(w, at(x, 0, 0), s_.rows, panel, count, b.output<float>(0) + from, s_.columns);
      }
    });
  }

  BlockedOperands s_;
};

}  // namespace

std::unique_ptr<Kernel> make_byte_blocked_product(const BlockedOperands& s) {
  return std::make_unique<ByteBlockedKernel>(s);
}

}  // namespace cameo::engine
