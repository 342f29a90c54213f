#include <algorithm>
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/conv_kernel.h"
#include "ops/nn/window_rule.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

constexpr size_t no_bias = SIZE_MAX;

template <class A>
WindowAttrs attrs_of(const A& a, size_t spatial) {
  return window_attrs(a.auto_pad, a.strides, a.dilations, a.pads, false, spatial);
}

template <class A>
void infer_conv(const A& a, Infer& c, size_t x_at, size_t w_at, size_t bias_at) {
  want_image_and_weight(c, x_at, w_at);
  const Shape& x = c.shape(x_at);
  const Shape& w = c.shape(w_at);
  if (a.group < 1) c.fail("infer.attribute", cat("group is ", a.group));
  c.same(x[1], w[1] * a.group, "the input's channels and the weight's");
  if (const auto m = w[0].known(); m && *m % a.group)
    c.fail("infer.mismatch", cat(*m, " output channels cannot be split into ", a.group, " groups"));
  if (c.has(bias_at)) want_shape(c, bias_at, {w[0]}, "the bias");
  Shape out{x[0], w[0]};
  for (const Dim d : windowed_sizes(c, attrs_of(a, x.size() - 2), x, kernel_of(c, a.kernel_shape, w))) out.push_back(d);
  c.out(0, std::move(out));
}

template <class A>
ConvSizes sizes_of(const A& a, Eval& k, const Tensor& x, const Tensor& w) {
  if (x.rank() < 3 || w.rank() != x.rank())
    k.fail("eval.shape", cat("input of rank ", x.rank(), ", weight of rank ", w.rank()));
  ConvSizes s{x.shape()[0], x.shape()[1], w.shape()[0], a.group, {}};
  s.windows =
      make_windows(attrs_of(a, static_cast<size_t>(x.rank() - 2)), spatial_of(x.shape()), spatial_of(w.shape()));
  if (!s.windows.problem.empty()) k.fail("eval.shape", s.windows.problem);
  if (s.groups < 1 || s.in_channels != w.shape()[1] * s.groups || s.out_channels % s.groups)
    k.fail("eval.shape", cat(s.in_channels, " input and ", s.out_channels, " output channels in ", s.groups,
                             " groups, weight for ", w.shape()[1]));
  return s;
}

std::vector<int64_t> out_shape(const ConvSizes& s) {
  std::vector<int64_t> shape{s.batch, s.out_channels};
  shape.insert(shape.end(), s.windows.out.begin(), s.windows.out.end());
  return shape;
}

struct Conv : Rules<op::Conv> {
  static void infer(const op::Conv& a, Infer& c) { infer_conv(a, c, 0, 1, 2); }

  static void eval(const op::Conv& a, Eval& k) {
    const ConvSizes s = sizes_of(a, k, k.in(0), k.in(1));
    if (k.has(2) && k.in(2).count() != s.out_channels)
      k.fail("eval.shape", cat("a bias of ", k.in(2).count(), " for ", s.out_channels, " channels"));
    with_float_carrier(k.in(0).dtype(), [&](auto zero) {
      using C = decltype(zero);
      const Loaded<C> x(k.in(0)), w(k.in(1)), b(k.has(2) ? k.in(2) : zeros(DType::f32, {0}));
      k.out(0, store(k.in(0).dtype(), out_shape(s), convolve<C>(s, x.span(), w.span(), b.span())));
    });
  }
};

// Elements less their zero point: one for all, or one per slice along the first axis.
std::vector<int64_t> centred(Eval& k, const Tensor& t, size_t zero_at) {
  const Loaded<int64_t> v(t);
  std::vector<int64_t> out(v.span().begin(), v.span().end());
  if (!k.has(zero_at)) return out;
  const Loaded<int64_t> zero(k.in(zero_at));
  if (zero.size() != 1 && zero.size() != t.shape()[0])
    k.fail("eval.shape", cat("a zero point of ", zero.size(), " elements for ", t.shape()[0], " slices"));
  const auto slice = static_cast<int64_t>(out.size()) / std::max<int64_t>(zero.size(), 1);
  for (size_t i = 0; i < out.size(); ++i) out[i] -= zero[static_cast<int64_t>(i) / slice];
  return out;
}

struct ConvInteger : Rules<op::ConvInteger> {
  static void infer(const op::ConvInteger& a, Infer& c) {
    infer_conv(a, c, 0, 1, no_bias);
    if (c.has(2)) want_one(c, 2, "the input's zero point");
    if (c.has(3)) want_one_or_each(c, 3, c.dim(1, 0), "the weight's zero point");
  }

  static void eval(const op::ConvInteger& a, Eval& k) {
    const ConvSizes s = sizes_of(a, k, k.in(0), k.in(1));
    if (k.has(2) && k.in(2).count() != 1) k.fail("eval.shape", "the input's zero point must be one number");
    const auto x = centred(k, k.in(0), 2), w = centred(k, k.in(1), 3);
    k.out(0, store(DType::i32, out_shape(s), convolve<int64_t>(s, x, w, {})));
  }
};

struct QLinearConv : Rules<op::QLinearConv> {
  static void infer(const op::QLinearConv& a, Infer& c) {
    infer_conv(a, c, 0, 3, 8);
    for (const size_t i : {1, 2, 6, 7}) want_one(c, i, cat("input ", i));
    for (const size_t i : {4, 5}) want_one_or_each(c, i, c.dim(3, 0), cat("input ", i));
  }

  static void eval(const op::QLinearConv& a, Eval& k) {
    const ConvSizes s = sizes_of(a, k, k.in(0), k.in(3));
    if (k.in(2).count() != 1) k.fail("eval.shape", "the input's zero point must be one number");
    const auto x = centred(k, k.in(0), 2), w = centred(k, k.in(3), 5);
    const Loaded<int64_t> bias(k.has(8) ? k.in(8) : zeros(DType::i32, {0}));
    if (k.has(8) && bias.size() != s.out_channels)
      k.fail("eval.shape", cat("a bias of ", bias.size(), " for ", s.out_channels, " channels"));
    const auto sums = convolve<int64_t>(s, x, w, bias.span());
    const Loaded<float> w_scale(k.in(4));
    if (w_scale.size() != 1 && w_scale.size() != s.out_channels)
      k.fail("eval.shape", cat("a weight scale of ", w_scale.size(), " elements for ", s.out_channels, " channels"));
    const auto x_scale = static_cast<float>(k.double_scalar(1)), y_scale = static_cast<float>(k.double_scalar(6));
    const auto y_zero = static_cast<double>(k.int_scalar(7));
    const DType dtype = k.in(7).dtype();
    const double lo = dtype == DType::u8 ? 0 : -128, hi = dtype == DType::u8 ? 255 : 127;
    std::vector<double> y(sums.size());
    const int64_t plane = s.windows.out_count();
    for (size_t i = 0; i < y.size(); ++i) {
      const auto m = plane ? static_cast<int64_t>(i) / plane % s.out_channels : 0;
      const float scale = x_scale * w_scale[w_scale.size() == 1 ? 0 : m] / y_scale;
      y[i] = std::clamp(std::nearbyint(static_cast<double>(static_cast<float>(sums[i]) * scale)) + y_zero, lo, hi);
    }
    k.out(0, store(dtype, out_shape(s), y));
  }
};

constexpr OpRules table[] = {rules<Conv>(), rules<ConvInteger>(), rules<QLinearConv>()};

}  // namespace

std::span<const OpRules> conv_rules() { return table; }

}  // namespace cameo::ops
