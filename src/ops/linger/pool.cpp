// linger's average pools: the sum of a window, divided, on the output's scale. A divisor that is a power of two is a
// shift, together with that of the scales: one rounding. Others are divided first, which rounds to a whole number.
#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/linger/number.h"
#include "ops/nn/window_rule.h"

namespace cameo::ops {

namespace linger {

namespace {

bool is_power_of_two(double v) {
  int exponent = 0;
  return std::frexp(v, &exponent) == 0.5;
}

template <class A>
void give(const A& a, Eval& k, std::vector<int64_t> shape, std::vector<double> sums, const std::vector<double>& by) {
  const bool shift = std::all_of(by.begin(), by.end(), is_power_of_two);
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] /= by[i];
    if (!shift) sums[i] = std::floor(sums[i] + 0.5);
  }
  k.out(0, result(a, std::move(shape), sums, x_of(a).scale));
}

template <class A>
WindowAttrs window_of(const A& a) {
  return window_attrs("NOTSET", a.strides, std::nullopt, a.pads, a.ceil_mode.value_or(0) != 0, a.kernel_shape.size());
}

template <class A>
struct QAvgPool : Rules<A> {
  static constexpr size_t spatial = std::is_same_v<A, op::linger::QAvgPool1d> ? 1 : 2;

  static void infer(const A& a, Infer& c) {
    want_rank(c, 0, spatial + 2, "the input");
    if (a.kernel_shape.size() != spatial)
      c.fail("infer.attribute", cat("kernel_shape has ", a.kernel_shape.size(), " sizes for ", spatial, " axes"));
    if (a.divisor_override.value_or(-1) == 0) c.fail("infer.attribute", "divisor_override is 0");
    const Shape kernel(a.kernel_shape.begin(), a.kernel_shape.end());
    Shape out{c.dim(0, 0), c.dim(0, 1)};
    for (const Dim d : windowed_sizes(c, window_of(a), c.shape(0), kernel)) out.push_back(d);
    promise(c, a, std::move(out));
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& t = k.in(0);
    if (t.rank() != spatial + 2 || a.kernel_shape.size() != spatial)
      k.fail("eval.shape", cat("an input of rank ", t.rank(), " and a kernel of rank ", a.kernel_shape.size()));
    const Windows win = make_windows(window_of(a), spatial_of(t.shape()), a.kernel_shape);
    if (!win.problem.empty()) k.fail("eval.shape", win.problem);
    const std::vector<double> x = whole(t, x_of(a), rounding_of(a.quant_mode));
    const int64_t planes = t.shape()[0] * t.shape()[1], override_by = a.divisor_override.value_or(-1);
    if (override_by == 0) k.fail("eval.attribute", "divisor_override is 0");
    std::vector<int64_t> shape{t.shape()[0], t.shape()[1]};
    shape.insert(shape.end(), win.out.begin(), win.out.end());
    std::vector<double> sums, by;
    Reach reach(win);
    for (int64_t p = 0; p < planes && win.out_count() > 0; ++p) {
      std::vector<int64_t> o(spatial, 0);
      do {
        double sum = 0, count = 0;
        reach.at(win, o);
        for_each_position(reach, [&](int64_t i) {
          sum += x[static_cast<size_t>(p * win.in_count() + i)];
          ++count;
        });
        if (a.count_include_pad.value_or(1)) count = static_cast<double>(win.kernel_count());
        sums.push_back(sum);
        by.push_back(override_by > 0 ? static_cast<double>(override_by) : std::max(count, 1.0));
      } while (next_index(o, win.out));
    }
    give(a, k, std::move(shape), std::move(sums), by);
  }
};

struct QGlobalAveragePool2d : Rules<op::linger::QGlobalAveragePool2d> {
  using A = op::linger::QGlobalAveragePool2d;
  static void infer(const A& a, Infer& c) {
    want_rank(c, 0, 4, "the input");
    for (const int64_t axis : {2, 3})
      if (c.dim(0, axis).is(0)) c.fail("infer.mismatch", "nothing is averaged");
    promise(c, a, {c.dim(0, 0), c.dim(0, 1), 1, 1});
  }
  static void eval(const A& a, Eval& k) {
    const Tensor& t = k.in(0);
    if (t.rank() != 4) k.fail("eval.shape", cat("an input of rank ", t.rank()));
    const int64_t planes = t.shape()[0] * t.shape()[1], plane = t.shape()[2] * t.shape()[3];
    if (plane == 0) k.fail("eval.shape", "nothing is averaged");
    const std::vector<double> x = whole(t, x_of(a), rounding_of(a.quant_mode));
    std::vector<double> sums(static_cast<size_t>(planes));
    for (size_t i = 0; i < x.size(); ++i) sums[i / static_cast<size_t>(plane)] += x[i];
    give(a, k, {t.shape()[0], t.shape()[1], 1, 1}, std::move(sums),
         std::vector<double>(static_cast<size_t>(planes), static_cast<double>(plane)));
  }
};

constexpr OpRules table[] = {
    rules<QAvgPool<op::linger::QAvgPool1d>>(),
    rules<QAvgPool<op::linger::QAvgPool2d>>(),
    rules<QGlobalAveragePool2d>(),
};

}  // namespace

}  // namespace linger

std::span<const OpRules> linger_pool_rules() { return linger::table; }

}  // namespace cameo::ops
