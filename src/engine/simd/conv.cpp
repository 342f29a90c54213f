// Conv of floats with constant weights, with what follows it. Output channels are the rows and output pixels the
// columns of products in tiles; depthwise convolutions add up their few taps directly.
#include <algorithm>
#include <cstring>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/epilogue.h"
#include "engine/simd/image.h"
#include "engine/simd/tiles.h"
#include "engine/simd/window_rows.h"
#include "engine/windows.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t panels_at_once = 16;  // their part of a tile's depth stays in the second cache

struct Size {
  int64_t images, groups, in_channels, out_channels;  // channels of one group
  ImageShape image;
  int64_t depth() const { return in_channels * image.kernel_y * image.kernel_x; }
  int64_t packed() const { return groups * tiles_of(out_channels) * tile_rows * depth(); }
  int64_t in_count() const { return images * groups * in_channels * image.height * image.width; }
  int64_t out_count() const { return images * groups * out_channels * image.pixels(); }
};

Extents extents_of(const Size& s, int64_t weights, bool bias, const Epilogue& after) {
  Extents e{{floats(s.in_count()), floats(weights)}, {floats(s.out_count())}};
  if (bias) e.in.push_back(floats(s.groups * s.out_channels));
  for (size_t i = 0; i < after.operands(); ++i) e.in.push_back(floats(s.out_count()));
  return e;
}

class ConvKernel : public Kernel {
 public:
  ConvKernel(Size s, bool bias, Epilogue after) : s_(std::move(s)), bias_(bias), after_(std::move(after)) {
    const auto window = s_.image.taps();
    for (int64_t c = 0; c < s_.in_channels; ++c)
      for (const int64_t t : window) taps_.push_back(c * channel() + t);
    if (s_.image.is_copied()) scratch_bytes = floats(s_.groups * s_.in_channels * s_.image.padded() + read_behind);
  }
  std::string about() const override { return "tiles"; }
  Extents extents() const override { return extents_of(s_, s_.packed(), bias_, after_); }

  void run(const Buffers& b) const override {
    const ImageShape& i = s_.image;
    const int64_t channels = s_.groups * s_.in_channels, block = panels_at_once * tile_columns(),
                  blocks = (i.pixels() + block - 1) / block;
    for (int64_t image = 0; image < s_.images; ++image) {
      const float* x = b.input<float>(0) + image * channels * i.height * i.width;
      if (i.is_copied()) {
        auto* copy = reinterpret_cast<float*>(b.scratch);
        parallel(channels, std::max<int64_t>(1, 32768 / i.padded()), [&](int64_t first, int64_t last) {
          for (int64_t c = first; c < last; ++c) i.copy(x + c * i.height * i.width, copy + c * i.padded(), 0);
        });
        x = copy;
      }
      parallel(s_.groups * blocks, 1, [&](int64_t first, int64_t last) {
        std::vector<float> panels(static_cast<size_t>(block * std::min(tile_depth, s_.depth())));
        for (int64_t t = first; t < last; ++t)
          some_pixels(b, x + t / blocks * s_.in_channels * channel(), image, t / blocks, t % blocks * block,
                      panels.data());
      });
    }
  }

 private:
  int64_t channel() const { return s_.image.is_copied() ? s_.image.padded() : s_.image.height * s_.image.width; }

  void some_pixels(const Buffers& b, const float* x, int64_t image, int64_t group, int64_t from, float* panels) const {
    const int64_t width = tile_columns(), count = std::min(panels_at_once * width, s_.image.pixels() - from);
    const int64_t start = (image * s_.groups + group) * s_.out_channels * s_.image.pixels() + from;
    const float* weights = b.input<float>(1) + group * tiles_of(s_.out_channels) * tile_rows * s_.depth();
    for (int64_t k = 0; k < s_.depth(); k += tile_depth) {
      const int64_t depth = std::min(tile_depth, s_.depth() - k);
      for (int64_t j = 0; j < count; j += width)
        fill(x, k, depth, from + j, std::min(width, count - j), panels + j * depth);
      for (int64_t m = 0; m < s_.out_channels; m += tile_rows)
        for (int64_t j = 0; j < count; j += width)
          tile_product(weights + m * s_.depth() + k * tile_rows, panels + j * depth, depth,
                       b.output<float>(0) + start + m * s_.image.pixels() + j, s_.image.pixels(),
                       std::min(tile_rows, s_.out_channels - m), std::min(width, count - j), k > 0);
    }
    for (int64_t m = 0; m < s_.out_channels; ++m) {
      const int64_t at = start + m * s_.image.pixels();
      float* y = b.output<float>(0) + at;
      if (bias_) binary_scalar_row(Binary::add, y, b.input<float>(2)[group * s_.out_channels + m], y, count);
      after_.apply(b, at, count);
    }
  }

  // Some taps of the windows of some output pixels as columns: those of one output row are read in one go.
  void fill(const float* x, int64_t k, int64_t depth, int64_t from, int64_t count, float* panel) const {
    const int64_t width = tile_columns();
    if (count < width) std::fill_n(panel, depth * width, 0.0f);
    for (int64_t j = 0; j < count;) {
      const int64_t oy = (from + j) / s_.image.out_width, ox = (from + j) % s_.image.out_width,
                    length = std::min(count - j, s_.image.out_width - ox);
      const float* start = x + s_.image.place(oy) + ox;
      copy_taps(start, taps_.data() + k, depth, length, panel + j, width);
      j += length;
    }
  }

  Size s_;
  bool bias_;
  Epilogue after_;
  std::vector<int64_t> taps_;
};

// One input channel for each output channel.
class DepthwiseKernel : public Kernel {
 public:
  DepthwiseKernel(Size s, bool bias, Epilogue after)
      : s_(std::move(s)), bias_(bias), after_(std::move(after)), taps_(s_.image.taps()) {}
  std::string about() const override { return "taps"; }
  Extents extents() const override {
    return extents_of(s_, s_.groups * s_.out_channels * static_cast<int64_t>(taps_.size()), bias_, after_);
  }

  void run(const Buffers& b) const override {
    const ImageShape& i = s_.image;
    const int64_t work = i.padded() + i.pixels() * static_cast<int64_t>(taps_.size());
    parallel(s_.images * s_.groups, std::max<int64_t>(1, 65536 / work), [&](int64_t first, int64_t last) {
      std::vector<float> copy(static_cast<size_t>(i.padded() + read_behind));
      for (int64_t t = first; t < last; ++t) {
        i.copy(b.input<float>(0) + t * i.height * i.width, copy.data(), 0);
        for (int64_t m = 0; m < s_.out_channels; ++m)
          channel(b, copy.data(), t, t % s_.groups * s_.out_channels + m, m);
      }
    });
  }

 private:
  void channel(const Buffers& b, const float* x, int64_t image_and_group, int64_t channel, int64_t m) const {
    const ImageShape& i = s_.image;
    const int64_t start = (image_and_group * s_.out_channels + m) * i.pixels(),
                  count = static_cast<int64_t>(taps_.size());
    const float* weights = b.input<float>(1) + channel * count;
    const float bias = bias_ ? b.input<float>(2)[channel] : 0.0f;
    float* y = b.output<float>(0) + start;
    for (int64_t oy = 0; oy < i.out_height; ++oy)
      weighted_windows(x + i.place(oy), taps_.data(), weights, count, bias, y + oy * i.out_width, i.out_width);
    after_.apply(b, start, i.pixels());
  }

  Size s_;
  bool bias_;
  Epilogue after_;
  std::vector<int64_t> taps_;
};

// Tiles of output channels.
Bytes pack(Compiler& c, ValueId v, const Size& s) {
  const Floats weights(*c.constant(v));
  const Bytes out = c.store().allocate(floats(s.packed()));
  auto* p = reinterpret_cast<float*>(writable(out));
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t m = 0; m < s.out_channels; m += tile_rows, p += tile_rows * s.depth())
      pack_tile(weights.data() + (g * s.out_channels + m) * s.depth(), s.depth(),
                std::min(tile_rows, s.out_channels - m), s.depth(), p);
  return out;
}

std::optional<Size> size_of(const Desc& x, const Desc& w, const op::Conv& a) {
  if (x.rank() < 3 || w.rank() != x.rank() || !fits_groups(x, w, a.group)) return std::nullopt;
  const WindowAttrs attrs = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, false, x.rank() - 2);
  if (!attrs.problem.empty()) return std::nullopt;
  const Windows win = make_windows(attrs, spatial_of(x.dims), spatial_of(w.dims));
  const auto image = win.problem.empty() ? image_shape(win) : std::nullopt;
  if (!image) return std::nullopt;
  return Size{x.dims[0], a.group, x.dims[1] / a.group, w.dims[0] / a.group, *image};
}

}  // namespace

bool emit_float_conv(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* a = node.as<op::Conv>();
  if (!a || !c.is_f32(node.inputs[0]) || !c.is_f32(node.inputs[1]) || !c.is_f32(node.outputs[0]) ||
      !c.is_constant(node.inputs[1]))
    return false;
  const ValueId weights = node.inputs[1], bias = c.graph().input(n, 2);
  const auto size = size_of(*c.desc(node.inputs[0]), *c.desc(weights), *a);
  if (!size || size->out_count() != c.desc(node.outputs[0])->count()) return false;
  if (bias && (!c.is_f32(bias) || c.desc(bias)->count() != size->groups * size->out_channels)) return false;
  Followers followers(c, n, node.outputs[0]);
  Epilogue after = followers.fuse(bias ? 3 : 2);
  std::vector<SlotId> in{c.plain(node.inputs[0])};
  std::unique_ptr<Kernel> kernel;
  if (size->in_channels == 1 && size->groups > 1) {
    in.push_back(c.plain(weights));
    kernel = std::make_unique<DepthwiseKernel>(*size, static_cast<bool>(bias), std::move(after));
  } else {
    const auto make = [&] { return pack(c, weights, *size); };
    const std::string key = c.key(weights, cat("tiles ", size->groups));
    const Bytes packed = key.empty() ? make() : c.store().get(key, make);
    in.push_back(c.add_constant(Tensor(DType::f32, {size->packed()}, packed), {DType::f32, {size->packed()}, nullptr}));
    kernel = std::make_unique<ConvKernel>(*size, static_cast<bool>(bias), std::move(after));
  }
  if (bias) in.push_back(c.plain(bias));
  followers.finish(std::move(kernel), std::move(in));
  return true;
}

}  // namespace cameo::engine
