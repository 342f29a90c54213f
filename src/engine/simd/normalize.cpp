// LayerNormalization, RMSNormalization, Softmax and reductions over neighbouring axes.
#include <algorithm>
#include <cmath>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/row_sums.h"
#include "engine/simd/rows.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

namespace {

int64_t grain_of(int64_t row) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, row)); }

class NormKernel : public Kernel {
 public:
  NormKernel(int64_t rows, int64_t length, float epsilon, bool centred, bool scale, bool shift)
      : rows_(rows), length_(length), epsilon_(epsilon), centred_(centred), scale_(scale), shift_(shift) {
    in_place = {0};
  }
  std::string about() const override { return "vector"; }
  Extents extents() const override {
    Extents e{{floats(rows_ * length_)}, {floats(rows_ * length_)}};
    for (const bool there : {scale_, shift_})
      if (there) e.in.push_back(floats(length_));
    return e;
  }
  void run(const Buffers& b) const override {
    parallel(rows_, grain_of(length_), [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; ++r) {
        const float* x = b.input<float>(0) + r * length_;
        const auto [mean, factor] = scale_of_row(x, length_, epsilon_, centred_);
        normalize_row(x, b.output<float>(0) + r * length_, length_, mean, factor, scale_ ? b.input<float>(1) : nullptr,
                      shift_ ? b.input<float>(2) : nullptr);
      }
    });
  }

 private:
  int64_t rows_, length_;
  float epsilon_;
  bool centred_, scale_, shift_;
};

bool emit_norm(Compiler& c, NodeId n, int64_t axis, float epsilon, bool centred) {
  const Node& node = c.graph()[n];
  const ValueId x = node.inputs[0], scale = node.inputs[1], shift = node.inputs.size() > 2 ? node.inputs[2] : ValueId();
  if (node.outputs.size() != 1 || !c.is_f32(x) || !c.is_f32(scale) || (shift && !c.is_f32(shift))) return false;
  const Desc& d = *c.desc(x);
  const auto from = axis_in(axis, d.rank());
  if (!from) return false;
  int64_t rows = 1, length = 1;
  for (size_t i = 0; i < d.rank(); ++i) (i < *from ? rows : length) *= d.dims[i];
  if (c.desc(scale)->count() != length || (shift && c.desc(shift)->count() != length)) return false;
  std::vector<SlotId> in{c.plain(x), c.plain(scale)};
  if (shift) in.push_back(c.plain(shift));
  const SlotId out = c.make(*c.desc(node.outputs[0]));
  c.step(n, std::string(node.op->name),
         std::make_unique<NormKernel>(rows, length, epsilon, centred, true, shift.valid()), std::move(in), {out});
  c.bind(node.outputs[0], out);
  return true;
}

class SoftmaxKernel : public Kernel {
 public:
  SoftmaxKernel(int64_t rows, int64_t length, bool log) : rows_(rows), length_(length), log_(log) { in_place = {0}; }
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{floats(rows_ * length_)}, {floats(rows_ * length_)}}; }
  void run(const Buffers& b) const override {
    parallel(rows_, grain_of(length_), [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; ++r) row(b.input<float>(0) + r * length_, b.output<float>(0) + r * length_);
    });
  }

 private:
  void row(const float* x, float* y) const {
    const float top = max_row(x, length_);
    if (!log_) {
      const float sum = exp_row(x, y, length_, 1, top);
      return binary_scalar_row(Binary::div, y, sum, y, length_);
    }
    // The exponentials go to a side buffer: x may be y.
    constexpr int64_t piece = 512;
    float sum = 0, side[piece];
    for (int64_t i = 0; i < length_; i += piece) sum += exp_row(x + i, side, std::min(piece, length_ - i), 1, top);
    binary_scalar_row(Binary::sub, x, top + std::log(sum), y, length_);
  }
  int64_t rows_, length_;
  bool log_;
};

enum class Fold : uint8_t { sum, mean, max, min };

// [outer, size, inner] to [outer, inner].
class ReduceKernel : public Kernel {
 public:
  ReduceKernel(int64_t outer, int64_t size, int64_t inner, Fold fold)
      : outer_(outer), size_(size), inner_(inner), fold_(fold) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{floats(outer_ * size_ * inner_)}, {floats(outer_ * inner_)}}; }
  void run(const Buffers& b) const override {
    const float* x = b.input<float>(0);
    float* y = b.output<float>(0);
    if (inner_ == 1)
      return parallel(outer_, grain_of(size_), [&](int64_t first, int64_t last) {
        for (int64_t o = first; o < last; ++o) y[o] = one(x + o * size_);
      });
    constexpr int64_t width = 256;  // columns that stay in cache while all rows pass
    const int64_t pieces = (inner_ + width - 1) / width;
    parallel(outer_ * pieces, grain_of(size_ * std::min(inner_, width)), [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        const int64_t o = t / pieces, at = t % pieces * width, n = std::min(width, inner_ - at);
        columns(x + o * size_ * inner_ + at, y + o * inner_ + at, n);
      }
    });
  }

 private:
  float one(const float* x) const {
    switch (fold_) {
      case Fold::sum:
      case Fold::mean: {
        const float sum = sum_row(x, size_), divisor = fold_ == Fold::mean ? static_cast<float>(size_) : 1.0f;
        return std::isfinite(sum) ? sum / divisor : exactly(x, 1);
      }
      case Fold::max: return max_row(x, size_);
      case Fold::min: return min_row(x, size_);
    }
    return 0;
  }
  void columns(const float* x, float* y, int64_t n) const {
    std::copy_n(x, n, y);
    for (int64_t i = 1; i < size_; ++i)
      (fold_ == Fold::max ? max_to_row : fold_ == Fold::min ? min_to_row : add_to_row)(y, x + i * inner_, n);
    const bool adds = fold_ == Fold::sum || fold_ == Fold::mean;
    const bool finite = !adds || is_finite_row(y, n);
    if (fold_ == Fold::mean) binary_scalar_row(Binary::div, y, static_cast<float>(size_), y, n);
    for (int64_t i = 0; i < n && !finite; ++i)
      if (!std::isfinite(y[i])) y[i] = exactly(x + i, inner_);
  }
  // A sum that overflowed on its way: the terms that follow may bring it back, or the division.
  float exactly(const float* x, int64_t step) const {
    const double sum = sum_row_exactly(x, size_, step);
    return static_cast<float>(fold_ == Fold::mean ? sum / static_cast<double>(size_) : sum);
  }
  int64_t outer_, size_, inner_;
  Fold fold_;
};

template <class A>
std::optional<std::vector<bool>> reduced_axes(Compiler& c, const Node& node) {
  const size_t rank = c.desc(node.inputs[0])->rank();
  std::vector<bool> out(rank, false);
  if (node.inputs.size() < 2 || !node.inputs[1]) {
    if (node.as<A>()->noop_with_empty_axes) return std::nullopt;
    out.assign(rank, true);
    return out;
  }
  if (!c.is_constant(node.inputs[1])) return std::nullopt;
  const auto axes = c.constant(node.inputs[1])->to_ints();
  if (axes.empty()) return std::nullopt;
  for (const int64_t a : axes) {
    const auto axis = axis_in(a, rank);
    if (!axis) return std::nullopt;
    out[*axis] = true;
  }
  return out;
}

template <class A>
bool emit_reduce_as(Compiler& c, NodeId n, Fold fold) {
  const Node& node = c.graph()[n];
  if (!c.is_f32(node.inputs[0]) || !c.is_f32(node.outputs[0])) return false;
  const auto reduced = reduced_axes<A>(c, node);
  if (!reduced) return false;
  const Desc& lies = c.slot_desc(c.slot(node.inputs[0]));
  // Axes of size 1 belong to either side; what is left has to be one run of axes in memory.
  const auto shape_in = [&](const Physical& p) -> std::optional<std::array<int64_t, 3>> {
    std::array<int64_t, 3> out{1, 1, 1};
    size_t part = 0;
    for (size_t i = 0; i < p.dims.size(); ++i) {
      if (p.dims[i] == 1) continue;
      if ((*reduced)[p.order[i]] != (part == 1)) ++part;
      if (part > 2) return std::nullopt;
      out[part] *= p.dims[i];
    }
    return out;
  };
  // Channels last with batch and channels left over come out as row-major [batch, channels].
  const bool order_kept = lies.dense() && [&] {
    size_t before = 0;
    bool first = true;
    const Physical p(lies);
    for (size_t i = 0; i < p.dims.size(); ++i) {
      if (p.dims[i] == 1 || (*reduced)[p.order[i]]) continue;
      if (!first && p.order[i] < before) return false;
      before = p.order[i], first = false;
    }
    return true;
  }();
  SlotId from = c.slot(node.inputs[0]);
  std::optional<std::array<int64_t, 3>> shape;
  if (order_kept) shape = shape_in(Physical(lies));
  if (!shape) {
    shape = shape_in(Physical(*c.desc(node.inputs[0])));
    if (!shape) return false;
    from = c.plain(node.inputs[0]);
  }
  const SlotId out = c.make(*c.desc(node.outputs[0]));
  c.step(n, std::string(node.op->name), std::make_unique<ReduceKernel>((*shape)[0], (*shape)[1], (*shape)[2], fold),
         {from}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

}  // namespace

bool emit_layer_norm(Compiler& c, NodeId n) {
  const auto* a = c.graph()[n].as<op::LayerNormalization>();
  return emit_norm(c, n, a->axis, a->epsilon, true);
}

bool emit_rms_norm(Compiler& c, NodeId n) {
  const auto* a = c.graph()[n].as<op::RMSNormalization>();
  return emit_norm(c, n, a->axis, a->epsilon, false);
}

bool emit_softmax(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!c.is_f32(node.inputs[0])) return false;
  const bool log = node.is("LogSoftmax");
  const Desc& d = *c.desc(node.inputs[0]);
  const auto place = axis_in(log ? node.as<op::LogSoftmax>()->axis : node.as<op::Softmax>()->axis, d.rank());
  if (!place) return false;
  const size_t axis = *place;
  for (size_t i = axis + 1; i < d.rank(); ++i)
    if (d.dims[i] != 1) return emit_softmax_columns(c, n, axis, log);
  const SlotId from = c.plain(node.inputs[0]), out = c.make(d);
  c.step(n, std::string(node.op->name), std::make_unique<SoftmaxKernel>(d.count() / d.dims[axis], d.dims[axis], log),
         {from}, {out});
  c.bind(node.outputs[0], out);
  return true;
}

bool emit_reduce(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (node.is("ReduceMean")) return emit_reduce_as<op::ReduceMean>(c, n, Fold::mean);
  if (node.is("ReduceSum")) return emit_reduce_as<op::ReduceSum>(c, n, Fold::sum);
  if (node.is("ReduceMax")) return emit_reduce_as<op::ReduceMax>(c, n, Fold::max);
  return emit_reduce_as<op::ReduceMin>(c, n, Fold::min);
}

}  // namespace cameo::engine
