// Softmax and LogSoftmax over an axis that others follow: some columns at a time, row after row.
#include <algorithm>
#include <cmath>

#include "engine/emit.h"
#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/row_sums.h"
#include "engine/simd/rows.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

namespace {

constexpr int64_t width = 256;  // columns that stay in cache while all rows pass

// [outer, size, inner], over the middle axis.
class SoftmaxColumns : public Kernel {
 public:
  SoftmaxColumns(int64_t outer, int64_t size, int64_t inner, bool log)
      : outer_(outer), size_(size), inner_(inner), log_(log) {
    in_place = {0};
  }
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    const uint64_t all = floats(outer_ * size_ * inner_);
    return {{all}, {all}};
  }
  void run(const Buffers& b) const override {
    const int64_t pieces = (inner_ + width - 1) / width, each = size_ * std::min(inner_, width);
    parallel(outer_ * pieces, std::max<int64_t>(1, 8192 / each), [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        const int64_t at = t % pieces * width, from = t / pieces * size_ * inner_ + at;
        columns(b.input<float>(0) + from, b.output<float>(0) + from, std::min(width, inner_ - at));
      }
    });
  }

 private:
  void columns(const float* x, float* y, int64_t n) const {
    float top[width], sum[width], side[width];
    std::copy_n(x, n, top);
    for (int64_t i = 1; i < size_; ++i) max_to_row(top, x + i * inner_, n);
    std::fill_n(sum, n, 0.0f);
    for (int64_t i = 0; i < size_; ++i) {
      float* const to = log_ ? side : y + i * inner_;  // x may be y
      binary_row(Binary::sub, x + i * inner_, top, to, n);
      exp_row(to, to, n, 1, 0);
      add_to_row(sum, to, n);
    }
    for (int64_t j = 0; log_ && j < n; ++j) sum[j] = top[j] + std::log(sum[j]);
    for (int64_t i = 0; i < size_; ++i) {
      const float* const numbers = log_ ? x + i * inner_ : y + i * inner_;
      binary_row(log_ ? Binary::sub : Binary::div, numbers, sum, y + i * inner_, n);
    }
  }

  int64_t outer_, size_, inner_;
  bool log_;
};

}  // namespace

bool emit_softmax_columns(Compiler& c, NodeId n, size_t axis, bool log) {
  const Node& node = c.graph()[n];
  const Desc& d = *c.desc(node.inputs[0]);
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < d.rank(); ++i)
    if (i != axis) (i < axis ? outer : inner) *= d.dims[i];
  if (d.count() == 0) return false;
  const SlotId from = c.plain(node.inputs[0]), out = c.make(d);
  c.step(n, std::string(node.op->name), std::make_unique<SoftmaxColumns>(outer, d.dims[axis], inner, log), {from},
         {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace cameo::engine
