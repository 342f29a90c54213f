// MaxPool and AveragePool of floats, and the global ones.
#include <algorithm>
#include <limits>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/image.h"
#include "engine/simd/row_sums.h"
#include "engine/simd/rows.h"
#include "engine/simd/window_rows.h"
#include "ops/generated/attributes.h"

namespace cameo::engine {

namespace {

class PoolKernel : public Kernel {
 public:
  // `counts`: what each window's sum is divided by; empty: the largest number is wanted.
  PoolKernel(int64_t channels, ImageShape image, std::vector<float> counts)
      : channels_(channels), image_(image), counts_(std::move(counts)), taps_(image_.taps()) {}
  std::string about() const override { return "taps"; }
  Extents extents() const override {
    return {{floats(channels_ * image_.height * image_.width)}, {floats(channels_ * image_.pixels())}};
  }

  void run(const Buffers& b) const override {
    const ImageShape& i = image_;
    const auto taps = static_cast<int64_t>(taps_.size());
    const int64_t work = i.padded() + i.pixels() * taps;
    const float outside = counts_.empty() ? -std::numeric_limits<float>::infinity() : 0.0f;
    parallel(channels_, std::max<int64_t>(1, 65536 / work), [&](int64_t first, int64_t last) {
      std::vector<float> copy(static_cast<size_t>(i.padded() + read_behind));
      for (int64_t c = first; c < last; ++c) {
        i.copy(b.input<float>(0) + c * i.height * i.width, copy.data(), outside);
        float* y = b.output<float>(0) + c * i.pixels();
        for (int64_t oy = 0; oy < i.out_height; ++oy) {
          const float* x = copy.data() + i.place(oy);
          if (counts_.empty()) largest_of_windows(x, taps_.data(), taps, y + oy * i.out_width, i.out_width);
          else sum_of_windows(x, taps_.data(), taps, y + oy * i.out_width, i.out_width);
        }
        if (!counts_.empty()) binary_row(Binary::div, y, counts_.data(), y, i.pixels());
      }
    });
  }

 private:
  int64_t channels_;
  ImageShape image_;
  std::vector<float> counts_;
  std::vector<int64_t> taps_;
};

class GlobalKernel : public Kernel {
 public:
  GlobalKernel(int64_t channels, int64_t pixels, bool largest)
      : channels_(channels), pixels_(pixels), largest_(largest) {}
  std::string about() const override { return "vector"; }
  Extents extents() const override { return {{floats(channels_ * pixels_)}, {floats(channels_)}}; }
  void run(const Buffers& b) const override {
    parallel(channels_, std::max<int64_t>(1, 32768 / pixels_), [&](int64_t first, int64_t last) {
      for (int64_t c = first; c < last; ++c) {
        const float* x = b.input<float>(0) + c * pixels_;
        b.output<float>(0)[c] = largest_ ? max_row(x, pixels_) : sum_row(x, pixels_) / static_cast<float>(pixels_);
      }
    });
  }

 private:
  int64_t channels_, pixels_;
  bool largest_;
};

// Per window, how many of its taps lie in the image; with the padding all of them.
std::vector<float> counts_of(const ImageShape& s, bool with_padding) {
  const auto inside = [](int64_t o, int64_t stride, int64_t before, int64_t kernel, int64_t step, int64_t size) {
    int64_t count = 0;
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t at = o * stride - before + k * step;
      count += at >= 0 && at < size;
    }
    return count;
  };
  std::vector<float> out;
  for (int64_t y = 0; y < s.out_height; ++y)
    for (int64_t x = 0; x < s.out_width; ++x)
      out.push_back(static_cast<float>(with_padding
                                           ? s.kernel_y * s.kernel_x
                                           : inside(y, s.stride_y, s.above, s.kernel_y, s.step_y, s.height) *
                                                 inside(x, s.stride_x, s.left, s.kernel_x, s.step_x, s.width)));
  return out;
}

template <class A>
std::optional<ImageShape> shape_of(const A& a, const Desc& x) {
  const WindowAttrs attrs = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, a.ceil_mode != 0, x.rank() - 2);
  if (!attrs.problem.empty()) return std::nullopt;
  const Windows w = make_windows(attrs, spatial_of(x.dims), a.kernel_shape);
  return w.problem.empty() ? image_shape(w) : std::nullopt;
}

void finish(Compiler& c, NodeId n, std::unique_ptr<Kernel> kernel) {
  const Node& node = c.graph()[n];
  const SlotId in = c.plain(node.inputs[0]), out = c.make(*c.desc(node.outputs[0]));
  c.step(n, std::string(node.op->name), std::move(kernel), {in}, {out});
  c.bind(node.outputs[0], out);
}

bool is_poolable(const Compiler& c, const Node& node) {
  return node.outputs.size() == 1 && c.is_f32(node.inputs[0]) && c.is_f32(node.outputs[0]) &&
         c.desc(node.inputs[0])->rank() >= 3;
}

}  // namespace

bool emit_float_pool(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!is_poolable(c, node)) return false;
  const Desc &x = *c.desc(node.inputs[0]), &y = *c.desc(node.outputs[0]);
  const int64_t channels = x.dims[0] * x.dims[1];
  const auto* most = node.as<op::MaxPool>();
  const auto* mean = node.as<op::AveragePool>();
  if (!most && (!mean || (mean->count_include_pad && mean->ceil_mode)))  // windows that reach beyond the padding
    return false;
  const auto shape = most ? shape_of(*most, x) : shape_of(*mean, x);
  if (!shape || y.count() != channels * shape->pixels()) return false;
  std::vector<float> counts = counts_of(*shape, false);
  if (std::find(counts.begin(), counts.end(), 0.0f) != counts.end()) return false;  // windows that see nothing
  if (most) counts.clear();
  else if (mean->count_include_pad) counts = counts_of(*shape, true);
  finish(c, n, std::make_unique<PoolKernel>(channels, *shape, std::move(counts)));
  return true;
}

bool emit_float_global_pool(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  if (!is_poolable(c, node)) return false;
  const Desc& x = *c.desc(node.inputs[0]);
  const int64_t channels = x.dims[0] * x.dims[1];
  finish(c, n, std::make_unique<GlobalKernel>(channels, x.count() / channels, node.is("GlobalMaxPool")));
  return true;
}

}  // namespace cameo::engine
