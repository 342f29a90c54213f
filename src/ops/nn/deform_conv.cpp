#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/deform_conv_expand.h"
#include "ops/nn/window_rule.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

struct DeformConv : Rules<op::DeformConv> {
  using A = op::DeformConv;
  static constexpr size_t most_axes = 6;  // a point has a corner for every subset of its axes

  static WindowAttrs window(const A& a, size_t spatial) {
    return window_attrs("NOTSET", a.strides, a.dilations, a.pads, false, spatial);
  }

  static void infer(const A& a, Infer& c) {
    want_image_and_weight(c, 0, 1);
    const Shape& x = c.shape(0);
    const Shape& w = c.shape(1);
    if (x.size() > most_axes)
      c.fail("infer.rank", cat("the input has rank ", x.size(), ": at most ", most_axes, " is computed"));
    const Shape kernel = kernel_of(c, a.kernel_shape, w);
    const Shape windows = windowed_sizes(c, window(a, kernel.size()), x, kernel);
    if (a.group < 1 || a.offset_group < 1)
      c.fail("infer.attribute", cat("group is ", a.group, ", offset_group ", a.offset_group));
    c.same(x[1], w[1] * a.group, "the input's channels and the weight's");
    want_share(c, w[0], a.group, "the output channels");
    want_share(c, x[1], a.offset_group, "the input's channels");
    const Dim taps = element_count(kernel);
    Shape offset{x[0], taps * static_cast<int64_t>(kernel.size()) * a.offset_group}, mask{x[0], taps * a.offset_group},
        out{x[0], w[0]};
    for (Shape* s : {&offset, &mask, &out}) s->insert(s->end(), windows.begin(), windows.end());
    want_shape(c, 2, offset, "the offset");
    if (c.has(3)) want_shape(c, 3, {w[0]}, "the bias");
    if (c.has(4)) want_shape(c, 4, mask, "the mask");
    c.out(0, std::move(out));
  }

  // The input at a point, linear between elements and zero outside.
  static double sample(const double* plane, const std::vector<int64_t>& sizes, const std::vector<double>& at) {
    const size_t n = sizes.size();
    double sum = 0;
    for (size_t corner = 0; corner < (size_t{1} << n); ++corner) {
      double weight = 1;
      int64_t index = 0;
      for (size_t d = 0; d < n && weight != 0; ++d) {
        if (!(at[d] > -1 && at[d] < static_cast<double>(sizes[d]))) return 0;
        const double floor = std::floor(at[d]), part = at[d] - floor;
        const bool upper = (corner >> d & 1) != 0;
        const int64_t i = static_cast<int64_t>(floor) + upper;
        weight *= upper ? part : 1 - part;
        if (i < 0 || i >= sizes[d]) weight = 0;
        index = index * sizes[d] + i;
      }
      if (weight != 0) sum += weight * plane[index];
    }
    return sum;
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    const Tensor& w = k.in(1);
    if (x.rank() < 3 || x.rank() > static_cast<int64_t>(most_axes) || w.rank() != x.rank() ||
        k.in(2).rank() != x.rank())
      k.fail("eval.shape", "input, weight and offset must have the same rank of 3 to 6");
    const auto n = static_cast<size_t>(x.rank() - 2);
    const Windows win = make_windows(window(a, n), spatial_of(x.shape()), spatial_of(w.shape()));
    if (!win.problem.empty()) k.fail("eval.shape", win.problem);
    const int64_t batch = x.shape()[0], channels = x.shape()[1], outputs = w.shape()[0], taps = win.kernel_count(),
                  windows = win.out_count();
    if (a.group < 1 || a.offset_group < 1 || channels != w.shape()[1] * a.group || outputs % a.group ||
        channels % a.offset_group)
      k.fail("eval.shape", "the channels cannot be split into these groups");
    if (k.in(2).count() != batch * a.offset_group * taps * static_cast<int64_t>(n) * windows)
      k.fail("eval.shape", "the offset does not suit the windows");
    const bool has_mask = k.has(4), has_bias = k.has(3);
    if ((has_mask && k.in(4).count() != batch * a.offset_group * taps * windows) ||
        (has_bias && k.in(3).count() != outputs))
      k.fail("eval.shape", "mask or bias do not suit the windows");
    const Loaded<double> v(x), weight(w), offset(k.in(2)), bias(has_bias ? k.in(3) : full(DType::f32, {1}, 0)),
        mask(has_mask ? k.in(4) : full(DType::f32, {1}, 1));
    std::vector<double> y(static_cast<size_t>(element_count(std::vector<int64_t>{batch, outputs, windows})), 0), at(n);
    const int64_t in_group = channels / a.group, out_group = outputs / a.group,
                  offset_group = channels / a.offset_group;
    for (int64_t b = 0; !y.empty() && b < batch; ++b)
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t first = (b * a.offset_group + c / offset_group) * taps;  // of this group's taps
        std::vector<int64_t> o(n, 0);
        for (int64_t p = 0; p < windows; ++p, next_index(o, win.out)) {
          std::vector<int64_t> tap(n, 0);
          for (int64_t t = 0; t < taps; ++t, next_index(tap, win.kernel)) {
            for (size_t d = 0; d < n; ++d)
              at[d] = static_cast<double>(o[d] * win.strides[d] - win.begin[d] + tap[d] * win.dilations[d]) +
                      offset[((first + t) * static_cast<int64_t>(n) + static_cast<int64_t>(d)) * windows + p];
            double e = sample(v.data() + (b * channels + c) * win.in_count(), win.in, at);
            if (has_mask) e *= mask[(first + t) * windows + p];
            for (int64_t m = c / in_group * out_group; m < (c / in_group + 1) * out_group; ++m)
              y[static_cast<size_t>((b * outputs + m) * windows + p)] +=
                  weight[(m * in_group + c % in_group) * taps + t] * e;
          }
        }
      }
    if (has_bias)
      for (size_t i = 0; i < y.size(); ++i) y[i] += bias[static_cast<int64_t>(i) / windows % outputs];
    std::vector<int64_t> shape{batch, outputs};
    shape.insert(shape.end(), win.out.begin(), win.out.end());
    k.out(0, store(x.dtype(), shape, y));
  }

  static constexpr Expansion expansions[] = {
      expansion<A>(19, Exactness::rounding, [](const A& a, Expand& e) { expand_deform_conv(a, e); })};
};

constexpr OpRules table[] = {rules<DeformConv>()};

}  // namespace

std::span<const OpRules> deform_conv_rules() { return table; }

}  // namespace cameo::ops
