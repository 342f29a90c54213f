// MeanVarianceNormalization, LpNormalization, LRN.
#include <algorithm>
#include <cmath>

#include "kernels/axis.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/reduce/reduce.h"

namespace cameo::ops {

namespace {

struct MeanVarianceNormalization : Rules<op::MeanVarianceNormalization> {
  static void infer(const op::MeanVarianceNormalization& a, Infer& c) {
    c.axes(a.axes, c.rank(0));
    infer_like_first(c);
  }
  static void eval(const op::MeanVarianceNormalization& a, Eval& k) {
    const Tensor& x = k.in(0);
    std::vector<int64_t> axes;
    for (const int64_t axis : a.axes) axes.push_back(k.axis(axis, x.rank()));
    if (x.count() == 0) return k.out(0, x);
    const FoldedAxes fold(x.shape(), axes, true);
    const Loaded<double> in(x);
    std::vector<double> out(static_cast<size_t>(x.count()));
    for (const int64_t first : fold.kept) {
      const Line<double> line{in.data() + first, fold.folded};
      double sum = 0, squares = 0;
      for (int64_t j = 0; j < line.size(); ++j) sum += line[j];
      const double mean = sum / static_cast<double>(line.size());
      for (int64_t j = 0; j < line.size(); ++j) squares += (line[j] - mean) * (line[j] - mean);
      const double deviation = std::sqrt(squares / static_cast<double>(line.size())) + 1e-9;
      for (int64_t j = 0; j < line.size(); ++j)
        out[static_cast<size_t>(first + fold.folded[static_cast<size_t>(j)])] = (line[j] - mean) / deviation;
    }
    k.out(0, store(x.dtype(), x.shape(), out));
  }
};

struct LpNormalization : Rules<op::LpNormalization> {
  static void infer(const op::LpNormalization& a, Infer& c) {
    c.axis(a.axis, c.rank(0));
    if (a.p != 1 && a.p != 2) c.fail("infer.attribute", cat("p is ", a.p, ", not 1 or 2"));
    infer_like_first(c);
  }
  static void eval(const op::LpNormalization& a, Eval& k) {
    const Tensor& x = k.in(0);
    const AxisView view(x.shape(), k.axis(a.axis, x.rank()));
    const Loaded<double> in(x);
    std::vector<double> out(in.span().begin(), in.span().end());
    view.each_line([&](int64_t first, int64_t step) {
      double norm = 0;
      for (int64_t i = 0; i < view.size; ++i)
        norm += a.p == 1 ? std::fabs(in[first + i * step]) : in[first + i * step] * in[first + i * step];
      if (a.p == 2) norm = std::sqrt(norm);
      // A line of zeros stays zero.
      for (int64_t i = 0; i < view.size && norm != 0; ++i) out[static_cast<size_t>(first + i * step)] /= norm;
    });
    k.out(0, store(x.dtype(), x.shape(), out));
  }
};

struct LRN : Rules<op::LRN> {
  static void infer(const op::LRN& a, Infer& c) {
    if (c.rank(0) < 2)
      c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", [batch, channels, ...] has at least 2"));
    if (a.size < 1) c.fail("infer.attribute", cat("size is ", a.size));
    infer_like_first(c);
  }
  static void eval(const op::LRN& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() < 2 || a.size < 1) k.fail("eval.shape", "LRN needs [batch, channels, ...] and a positive size");
    const AxisView view(x.shape(), 1);
    const Loaded<double> in(x);
    std::vector<double> out(static_cast<size_t>(x.count()));
    view.each_line([&](int64_t first, int64_t step) {
      for (int64_t c = 0; c < view.size; ++c) {
        double squares = 0;
        const int64_t from = std::max<int64_t>(0, c - (a.size - 1) / 2), to = std::min(view.size - 1, c + a.size / 2);
        for (int64_t i = from; i <= to; ++i) squares += in[first + i * step] * in[first + i * step];
        const double scale =
            static_cast<double>(a.bias) + static_cast<double>(a.alpha) / static_cast<double>(a.size) * squares;
        out[static_cast<size_t>(first + c * step)] =
            in[first + c * step] / std::pow(scale, static_cast<double>(a.beta));
      }
    });
    k.out(0, store(x.dtype(), x.shape(), out));
  }
};

constexpr OpRules table[] = {rules<MeanVarianceNormalization>(), rules<LpNormalization>(), rules<LRN>()};

}  // namespace

std::span<const OpRules> normalization_rules() { return table; }

}  // namespace cameo::ops
