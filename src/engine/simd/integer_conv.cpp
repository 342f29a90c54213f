// ConvInteger and QLinearConv with constant weights, on any processor. Weights are the rows and output pixels the
// columns of products of 16 bits; the image is copied once, less its zero point and with its padding, so that taps need
// no bounds.
#include <algorithm>

#include "engine/parallel.h"
#include "engine/simd/emitters.h"
#include "engine/simd/integer.h"
#include "engine/simd/integer_rows.h"
#include "engine/simd/quantize_rows.h"
#include "engine/windows.h"
#include "kernels/carrier.h"
#include "ops/generated/attributes.h"
#include "ops/nn/window.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

constexpr int64_t panels_at_once = 4;

struct Shape2d {
  int64_t images, groups, in_channels, out_channels;  // channels of one group
  int64_t height, width, above, left, padded_height, padded_width, out_height, out_width, stride_y, stride_x;
  std::vector<int64_t> taps;  // where each product of a sum is read, from a window's first place
  int64_t pairs() const { return (static_cast<int64_t>(taps.size()) + 1) / 2; }
  int64_t pixels() const { return out_height * out_width; }
  int64_t image() const { return in_channels * padded_height * padded_width; }  // of one group
};

// One and two dimensions; one is an image of one row.
std::optional<Shape2d> shape_of(const Desc& x, const Desc& w, const Windows& win, int64_t group) {
  if (win.rank() > 2 || win.rank() < 1 || !fits_groups(x, w, group)) return std::nullopt;
  const bool flat = win.rank() == 1;
  const auto y_of = [&](const std::vector<int64_t>& v, int64_t one) { return flat ? one : v[0]; };
  const auto x_of = [&](const std::vector<int64_t>& v) { return v.back(); };
  Shape2d s{};
  s.images = x.dims[0], s.groups = group, s.in_channels = x.dims[1] / group, s.out_channels = w.dims[0] / group;
  s.height = y_of(win.in, 1), s.width = x_of(win.in), s.above = y_of(win.begin, 0), s.left = x_of(win.begin);
  s.out_height = y_of(win.out, 1), s.out_width = x_of(win.out), s.stride_y = y_of(win.strides, 1),
  s.stride_x = x_of(win.strides);
  if (s.above < 0 || s.left < 0 || far_from_image(win)) return std::nullopt;
  const int64_t kernel_y = y_of(win.kernel, 1), kernel_x = x_of(win.kernel), step_y = y_of(win.dilations, 1),
                step_x = x_of(win.dilations);
  s.padded_height = std::max(s.above + s.height, (s.out_height - 1) * s.stride_y + (kernel_y - 1) * step_y + 1);
  s.padded_width = std::max(s.left + s.width, (s.out_width - 1) * s.stride_x + (kernel_x - 1) * step_x + 1);
  for (int64_t c = 0; c < s.in_channels; ++c)
    for (int64_t ky = 0; ky < kernel_y; ++ky)
      for (int64_t kx = 0; kx < kernel_x; ++kx)
        s.taps.push_back((c * s.padded_height + ky * step_y) * s.padded_width + kx * step_x);
  return s;
}

template <class In, class Out>
class ConvKernel : public Kernel {
 public:
  // Without `zero` the image's zero point is the third input.
  ConvKernel(Shape2d s, std::optional<int32_t> zero, Requantize result)
      : s_(std::move(s)), zero_(zero), result_(std::move(result)) {
    scratch_bytes = static_cast<uint64_t>(s_.groups * s_.image()) * 2;
  }
  std::string about() const override { return "integers"; }
  Extents extents() const override {
    Extents e{{static_cast<uint64_t>(s_.images * s_.groups * s_.in_channels * s_.height * s_.width),
               static_cast<uint64_t>(s_.groups * s_.out_channels * s_.pairs()) * 4},
              {static_cast<uint64_t>(s_.images * s_.groups * s_.out_channels * s_.pixels()) * sizeof(Out)}};
    if (!zero_) e.in.push_back(1);
    return e;
  }

  void run(const Buffers& b) const override {
    auto* padded = reinterpret_cast<int16_t*>(b.scratch);
    const int32_t zero = zero_ ? *zero_ : int32_t{*b.input<In>(2)};
    const int64_t block = panels_at_once * panel_columns, blocks = (s_.pixels() + block - 1) / block;
    const int64_t work = s_.out_channels * block * 2 * s_.pairs();
    for (int64_t image = 0; image < s_.images; ++image) {
      parallel(s_.groups * s_.in_channels, std::max<int64_t>(1, 32768 / (s_.padded_height * s_.padded_width)),
               [&](int64_t first, int64_t last) {
                 for (int64_t c = first; c < last; ++c)
                   pad(b.input<In>(0) + (image * s_.groups * s_.in_channels + c) * s_.height * s_.width,
                       padded + c * s_.padded_height * s_.padded_width, zero);
               });
      parallel(s_.groups * blocks, std::max<int64_t>(1, 262144 / work), [&](int64_t first, int64_t last) {
        std::vector<int16_t> panels(static_cast<size_t>(panels_at_once * panel_size(s_.pairs())), 0);
        for (int64_t t = first; t < last; ++t) some_pixels(b, padded, image, t / blocks, t % blocks * block, panels);
      });
    }
  }

 private:
  void pad(const In* x, int16_t* y, int32_t zero) const {
    std::fill_n(y, s_.padded_height * s_.padded_width, int16_t{0});
    for (int64_t i = 0; i < s_.height; ++i)
      centre_row(x + i * s_.width, y + (i + s_.above) * s_.padded_width + s_.left, s_.width, zero);
  }

  void some_pixels(const Buffers& b, const int16_t* padded, int64_t image, int64_t group, int64_t from,
                   std::vector<int16_t>& panels) const {
    const int64_t count = std::min(panels_at_once * panel_columns, s_.pixels() - from),
                  used = (count + panel_columns - 1) / panel_columns;
    for (int64_t p = 0; p < used; ++p)
      fill(padded + group * s_.image(), from + p * panel_columns, std::min(panel_columns, count - p * panel_columns),
           panels.data() + p * panel_size(s_.pairs()));
    constexpr int64_t strip = 6, row = panels_at_once * panel_columns;
    int32_t sums[strip * row];
    const auto* weights = b.input<int16_t>(1) + group * s_.out_channels * 2 * s_.pairs();
    for (int64_t m = 0; m < s_.out_channels; m += strip) {
      const int64_t rows = std::min(strip, s_.out_channels - m);
      for (int64_t p = 0; p < used; ++p)
        panel_product(weights + m * 2 * s_.pairs(), 2 * s_.pairs(), rows, panels.data() + p * panel_size(s_.pairs()),
                      s_.pairs(), sums + p * panel_columns, row);
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t channel = group * s_.out_channels + m + i;
        put(sums + i * row, b.output<Out>(0) + (image * s_.groups * s_.out_channels + channel) * s_.pixels() + from,
            count, static_cast<size_t>(channel));
      }
    }
  }

  // The windows of some output pixels as columns: pixels of one row are read in one go.
  void fill(const int16_t* x, int64_t from, int64_t count, int16_t* panel) const {
    const auto taps = static_cast<int64_t>(s_.taps.size());
    for (int64_t j = 0; j < count;) {
      const int64_t oy = (from + j) / s_.out_width, ox = (from + j) % s_.out_width,
                    length = std::min(count - j, s_.out_width - ox);
      const int16_t* start = x + oy * s_.stride_y * s_.padded_width + ox * s_.stride_x;
      for (int64_t k = 0; k + 1 < taps; k += 2)
        two_taps(start + s_.taps[static_cast<size_t>(k)], start + s_.taps[static_cast<size_t>(k + 1)],
                 panel + (k * panel_columns + 2 * j), length, s_.stride_x);
      if (taps % 2)
        for (int64_t i = 0; i < length; ++i) {
          int16_t* to = panel + (taps - 1) * panel_columns + 2 * (j + i);
          to[0] = start[s_.taps.back() + i * s_.stride_x], to[1] = 0;
        }
      j += length;
    }
  }

  void put(const int32_t* sums, Out* y, int64_t n, size_t channel) const {
    if constexpr (std::is_same_v<Out, int32_t>) std::copy_n(sums, n, y);
    else requantize_row(sums, result_.bias[channel], result_.scale[channel], y, n, result_.zero);
  }

  Shape2d s_;
  std::optional<int32_t> zero_;
  Requantize result_;
};

template <class Out>
std::unique_ptr<Kernel> make_kernel(DType in, Shape2d s, std::optional<int32_t> zero, Requantize r) {
  if (in == DType::u8) return std::make_unique<ConvKernel<uint8_t, Out>>(std::move(s), zero, std::move(r));
  return std::make_unique<ConvKernel<int8_t, Out>>(std::move(s), zero, std::move(r));
}

// A row of 16-bit numbers per output channel: weights less their zero points.
Bytes pack(Compiler& c, ValueId v, ValueId zero, int64_t pairs) {
  const Tensor t = *c.constant(v);
  const Loaded<int64_t> w(t);
  const int64_t channels = t.shape()[0], taps = t.count() / channels;
  const Bytes out = c.store().allocate(static_cast<uint64_t>(channels * pairs) * 4);
  auto* p = reinterpret_cast<int16_t*>(writable(out));
  const std::vector<int64_t> zeros = zero ? c.constant(zero)->to_ints() : std::vector<int64_t>{0};
  for (int64_t m = 0; m < channels; ++m) {
    const int64_t z = zeros[zeros.size() == 1 ? 0 : static_cast<size_t>(m)];
    for (int64_t k = 0; k < 2 * pairs; ++k)
      p[m * 2 * pairs + k] = static_cast<int16_t>(k < taps ? w[m * taps + k] - z : 0);
  }
  return out;
}

template <class A>
Windows windows_of(const A& a, const Desc& x, const Desc& w) {
  const WindowAttrs attrs = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, false, x.rank() - 2);
  Windows out;
  out.problem = attrs.problem;
  return attrs.problem.empty()
             ? make_windows(attrs, {x.dims.begin() + 2, x.dims.end()}, {w.dims.begin() + 2, w.dims.end()})
             : out;
}

}  // namespace

bool emit_integer_conv(Compiler& c, NodeId n) {
  const Node& node = c.graph()[n];
  const auto* q = node.as<op::QLinearConv>();
  const auto* a = node.as<op::ConvInteger>();
  if (!q && !a) return false;
  const ValueId x = node.inputs[0], w = node.inputs[q ? 3 : 1], w_zero = input_of(node, q ? 5 : 3), y = node.outputs[0];
  const Desc &xd = *c.desc(x), &wd = *c.desc(w), &yd = *c.desc(y);
  if (!is_byte(xd.dtype) || !is_byte(wd.dtype) || xd.rank() < 3 || wd.rank() != xd.rank() || xd.count() == 0 ||
      wd.count() == 0 || yd.count() == 0 || !c.is_constant(w))
    return false;
  if (w_zero && (!c.is_constant(w_zero) || (c.desc(w_zero)->count() != 1 && c.desc(w_zero)->count() != wd.dims[0])))
    return false;
  const Windows win = q ? windows_of(*q, xd, wd) : windows_of(*a, xd, wd);
  const auto shape = win.problem.empty() ? shape_of(xd, wd, win, q ? q->group : a->group) : std::nullopt;
  const ValueId x_zero = input_of(node, 2);
  const auto zero = constant_zero(c, x_zero);
  if (!zero && (c.desc(x_zero)->count() != 1 || c.desc(x_zero)->dtype != xd.dtype)) return false;
  if (!shape || static_cast<int64_t>(shape->taps.size()) > deepest_sum) return false;
  const auto result = q ? conv_result(c, node, wd.dims[0]) : std::optional(Requantize{});
  if (!result || (q ? !is_byte(yd.dtype) : yd.dtype != DType::i32)) return false;
  std::unique_ptr<Kernel> kernel;
  if (yd.dtype == DType::i32) kernel = make_kernel<int32_t>(xd.dtype, *shape, zero, *result);
  else if (yd.dtype == DType::u8) kernel = make_kernel<uint8_t>(xd.dtype, *shape, zero, *result);
  else kernel = make_kernel<int8_t>(xd.dtype, *shape, zero, *result);
  const auto make = [&] { return pack(c, w, w_zero, shape->pairs()); };
  const std::string key = c.key(w, cat("rows", w_zero ? cat(w_zero.index) : ""));
  const Bytes packed = key.empty() ? make() : c.store().get(key, make);
  const Tensor rows(DType::i16, {narrow<int64_t>(packed.size() / 2)}, packed);
  const SlotId in = c.plain(x), weights = c.add_constant(rows, {DType::i16, rows.shape(), nullptr}), out = c.make(yd);
  std::vector<SlotId> operands{in, weights};
  if (!zero) operands.push_back(c.plain(x_zero));
  c.step(n, std::string(node.op->name), std::move(kernel), std::move(operands), {out});
  c.bind(y, out);
  return true;
}

}  // namespace cameo::engine
