// linger's layer norm and softmax.
#include <cmath>

#include "ops/families.h"
#include "ops/linger/number.h"

namespace cameo::ops {

namespace linger {

namespace {

// Over the last axes, as many as the weight has. The normalised numbers are rounded to steps of 1 / scale_y_normal, the
// bias is in steps of 1 / (scale_y_normal * scale_w). Neither the axes nor epsilon are in the file: epsilon is 1e-5.
struct QLayerNorm : Rules<op::linger::QLayerNorm> {
  using A = op::linger::QLayerNorm;
  static constexpr double epsilon = 1e-5;
  static double normal_of(const A& a) { return static_cast<double>(a.scale_y_normal.value_or(32768)); }

  static void infer(const A& a, Infer& c) {
    if (c.rank(1) < 1 || c.rank(1) > c.rank(0))
      c.fail("infer.rank", cat("a weight of rank ", c.rank(1), " for an input of rank ", c.rank(0)));
    want_scale(c, "scale_y_normal", normal_of(a));
    const Shape row(c.shape(0).end() - static_cast<std::ptrdiff_t>(c.rank(1)), c.shape(0).end());
    want_shape(c, 1, row, "the weight");
    if (c.has(2)) want_shape(c, 2, row, "the bias");
    promise(c, a, c.shape(0));
  }

  // A row of whole numbers, normalised and rounded.
  static void normalise(std::span<double> row, double scale, double normal) {
    double mean = 0, square = 0;
    for (const double v : row) mean += v;
    mean /= static_cast<double>(row.size());
    for (const double v : row) square += (v - mean) * (v - mean);
    const double deviation = std::sqrt(square / static_cast<double>(row.size()) + epsilon * scale * scale);
    for (double& v : row) v = saturated(std::floor((v - mean) / deviation * normal + 0.5), 32);
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& t = k.in(0);
    const double normal = normal_of(a);
    const std::vector<double> w = whole(k.in(1), w_of(a), Rounding::even);
    const Grid bias{normal * w_of(a).scale, 32};
    const std::vector<double> b = k.has(2) ? whole(k.in(2), bias, Rounding::even) : std::vector<double>(w.size(), 0.0);
    std::vector<double> y = whole(t, x_of(a), rounding_of(a.quant_mode));
    if (w.size() != b.size() || (w.empty() ? !y.empty() : y.size() % w.size() != 0))
      k.fail("eval.shape", cat(w.size(), " weights and ", b.size(), " biases for ", y.size(), " numbers"));
    for (size_t at = 0; at < y.size(); at += w.size()) {
      const auto row = std::span(y).subspan(at, w.size());
      normalise(row, x_of(a).scale, normal);
      for (size_t i = 0; i < w.size(); ++i) row[i] = row[i] * w[i] + b[i];
    }
    k.out(0, result(a, t.shape(), y, bias.scale));
  }
};

struct QSoftmax : Rules<op::linger::QSoftmax> {
  using A = op::linger::QSoftmax;
  static void infer(const A& a, Infer& c) {
    c.axis(a.axis, c.rank(0));
    promise(c, a, c.shape(0));
  }
  static void eval(const A& a, Eval& k) {
    std::vector<double> x = whole(k.in(0), x_of(a), rounding_of(a.quant_mode));
    for (double& v : x) v /= x_of(a).scale;
    const Tensor real = store(DType::f64, k.in(0).shape(), x);
    const Tensor shares = computed(op::Softmax{.axis = a.axis}, std::span(&real, 1));
    const Loaded<double> v(shares);
    std::vector<double> y(v.span().begin(), v.span().end());
    for (double& share : y) share = in_q15(share);
    k.out(0, result(a, shares.shape(), y, 1));
  }
};

constexpr OpRules table[] = {rules<QLayerNorm>(), rules<QSoftmax>()};

}  // namespace

}  // namespace linger

std::span<const OpRules> linger_normalization_rules() { return linger::table; }

}  // namespace cameo::ops
