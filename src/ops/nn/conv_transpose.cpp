#include <algorithm>

#include "ir/checked.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/conv_kernel.h"
#include "ops/nn/window_rule.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct ConvTranspose : Rules<op::ConvTranspose> {
  using A = op::ConvTranspose;

  static WindowAttrs window(const A& a, size_t spatial) {
    WindowAttrs w = window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, false, spatial);
    if (a.output_padding && a.output_padding->size() < spatial)
      w.problem = cat("'output_padding' has ", a.output_padding->size(), " entries where ", spatial, " are wanted");
    for (const int64_t p : a.output_padding.value_or(std::vector<int64_t>{}))
      if (p < 0) w.problem = cat("an output padding of ", p);
    if (output_shape(a) && a.output_shape->size() < spatial)
      w.problem = cat("'output_shape' has ", a.output_shape->size(), " entries where ", spatial, " are wanted");
    if (a.kernel_shape && a.kernel_shape->size() != spatial)
      w.problem = cat("'kernel_shape' has ", a.kernel_shape->size(), " entries where ", spatial, " are wanted");
    if (a.group < 1) w.problem = cat("group is ", a.group);
    return w;
  }

  static bool output_shape(const A& a) { return a.output_shape && !a.output_shape->empty(); }
  // The spatial size asked for; models in the wild also give batch and channels.
  static int64_t wanted(const A& a, size_t i, size_t spatial) {
    return (*a.output_shape)[a.output_shape->size() - spatial + i];
  }

  // The size without padding: what all windows together cover, and the extra at the end.
  static Dim covers(const A& a, const WindowAttrs& w, size_t i, Dim size, Dim kernel) {
    return (size - 1) * w.strides[i] + covered(kernel, w.dilations[i]) +
           (a.output_padding ? (*a.output_padding)[i] : 0);
  }

  static Dim result_size(const A& a, const WindowAttrs& w, size_t i, Dim size, Dim kernel) {
    const size_t n = w.strides.size();
    if (output_shape(a)) return wanted(a, i, n);
    if (w.same()) return size * w.strides[i];
    return covers(a, w, i, size, kernel) - w.pads[i] - w.pads[i + n];
  }

  static void infer(const A& a, Infer& c) {
    want_image_and_weight(c, 0, 1);
    const Shape& x = c.shape(0);
    const Shape& w = c.shape(1);
    const size_t n = x.size() - 2;
    const WindowAttrs win = window(a, n);
    if (!win.problem.empty()) c.fail("infer.attribute", win.problem);
    want_share(c, c.same(x[1], w[0], "the input's channels and the weight's"), a.group, "the channels");
    if (c.has(2)) want_shape(c, 2, {w[1] * a.group}, "the bias");
    const Shape kernel = kernel_of(c, a.kernel_shape, w);
    Shape out{x[0], w[1] * a.group};
    for (size_t i = 0; i < n; ++i) {
      if (const auto size = kernel[i].known())
        if (const std::string problem = kernel_problem(win, i, *size); !problem.empty())
          c.fail("infer.attribute", problem);
      out.push_back(result_size(a, win, i, x[i + 2], kernel[i]));
    }
    for (const Dim d : out)
      if (d.is_literal() && d.literal() < 0)
        c.fail("infer.mismatch", cat("the result would be [", shape_text(out), "]"));
    c.out(0, std::move(out));
  }

  static ConvSizes sizes(const A& a, Eval& k, const Tensor& x, const Tensor& w) {
    if (x.rank() < 3 || w.rank() != x.rank())
      k.fail("eval.shape", cat("input of rank ", x.rank(), ", weight of rank ", w.rank()));
    const auto n = static_cast<size_t>(x.rank() - 2);
    const WindowAttrs win = window(a, n);
    if (!win.problem.empty()) k.fail("eval.attribute", win.problem);
    if (w.shape()[0] != x.shape()[1] || x.shape()[1] % a.group)
      k.fail("eval.shape", cat(x.shape()[1], " channels, weight for ", w.shape()[0], ", ", a.group, " groups"));
    ConvSizes s{x.shape()[0], x.shape()[1], checked_mul(w.shape()[1], a.group), a.group, {}};
    Windows& out = s.windows;
    out.out = spatial_of(x.shape()), out.kernel = spatial_of(w.shape()), out.strides = win.strides,
    out.dilations = win.dilations;
    out.in.resize(n), out.begin.resize(n), out.end.resize(n);
    for (size_t i = 0; i < n; ++i) {
      if (const std::string problem = kernel_problem(win, i, out.kernel[i]); !problem.empty())
        k.fail("eval.attribute", problem);
      out.in[i] = result_size(a, win, i, out.out[i], out.kernel[i]).literal();
      out.begin[i] = win.pads[i];
      if (out.in[i] < 0) k.fail("eval.shape", cat("spatial axis ", i, " would have size ", out.in[i]));
      if (!output_shape(a) && !win.same()) continue;
      // A result larger than the windows cover gets zeros at its end.
      const int64_t total = std::max<int64_t>(covers(a, win, i, out.out[i], out.kernel[i]).literal() - out.in[i], 0);
      out.begin[i] = a.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    return s;
  }

  static void eval(const A& a, Eval& k) {
    const ConvSizes s = sizes(a, k, k.in(0), k.in(1));
    if (k.has(2) && k.in(2).count() != s.out_channels)
      k.fail("eval.shape", cat("a bias of ", k.in(2).count(), " for ", s.out_channels, " channels"));
    std::vector<int64_t> shape{s.batch, s.out_channels};
    shape.insert(shape.end(), s.windows.in.begin(), s.windows.in.end());
    with_float_carrier(k.in(0).dtype(), [&](auto zero) {
      using C = decltype(zero);
      const Loaded<C> x(k.in(0)), w(k.in(1)), b(k.has(2) ? k.in(2) : zeros(DType::f32, {0}));
      k.out(0, store(k.in(0).dtype(), shape, convolve_transposed<C>(s, x.span(), w.span(), b.span())));
    });
  }
};

constexpr OpRules table[] = {rules<ConvTranspose>()};

}  // namespace

std::span<const OpRules> conv_transpose_rules() { return table; }

}  // namespace cameo::ops
