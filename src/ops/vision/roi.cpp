// RoiAlign, MaxRoiPool: regions pooled.
#include <algorithm>
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

void want_pooled(const Infer& c, int64_t height, int64_t width) {
  if (height < 1 || width < 1) c.fail("infer.attribute", cat("regions are pooled to ", height, " by ", width));
}

struct RoiAlign : Rules<op::RoiAlign> {
  using A = op::RoiAlign;
  static constexpr int64_t most_samples = 4096;  // of one bin along an axis; a region is as large as its numbers say
  static void infer(const A& a, Infer& c) {
    if (c.rank(0) != 4 || c.rank(1) != 2)
      c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", the regions ", c.rank(1), ": 4 and 2 are wanted"));
    if (c.rank(2) != 1) c.fail("infer.rank", cat("the batch indices have rank ", c.rank(2), ": 1 is wanted"));
    c.same(c.dim(1, 1), 4, "the numbers of a region");
    want_word(c, "mode", a.mode, {"avg", "max"});
    want_word(c, "coordinate_transformation_mode", a.coordinate_transformation_mode,
              {"half_pixel", "output_half_pixel"});
    want_pooled(c, a.output_height, a.output_width);
    if (a.sampling_ratio < 0 || a.sampling_ratio > most_samples)
      c.fail("infer.attribute", cat("sampling_ratio is ", a.sampling_ratio));
    for (const int64_t axis : {2, 3})
      if (c.dim(0, axis).is(0)) c.fail("infer.mismatch", "an empty input has no regions");
    c.out(0, {c.same(c.dim(1, 0), c.dim(2, 0), "the regions and their batch indices"), c.dim(0, 1), a.output_height,
              a.output_width});
  }

  // Four neighbours of a point and their weights; none beyond one element outside.
  struct Point {
    int64_t at[4] = {0, 0, 0, 0};
    double weight[4] = {0, 0, 0, 0};
  };
  static Point point(double y, double x, int64_t height, int64_t width) {
    Point p;
    if (!(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width))) return p;
    const auto split = [](double v, int64_t size, int64_t& lo, int64_t& hi) {
      v = std::max(v, 0.0);
      lo = static_cast<int64_t>(v);
      if (lo >= size - 1) {
        lo = hi = size - 1;
        return 0.0;
      }
      hi = lo + 1;
      return v - static_cast<double>(lo);
    };
    int64_t y0, y1, x0, x1;
    const double fy = split(y, height, y0, y1), fx = split(x, width, x0, x1);
    p.at[0] = y0 * width + x0, p.at[1] = y0 * width + x1, p.at[2] = y1 * width + x0, p.at[3] = y1 * width + x1;
    p.weight[0] = (1 - fy) * (1 - fx), p.weight[1] = (1 - fy) * fx, p.weight[2] = fy * (1 - fx), p.weight[3] = fy * fx;
    return p;
  }

  static void eval(const A& a, Eval& k) {
    const auto& shape = k.in(0).shape();
    if (shape.size() != 4 || k.in(1).rank() != 2 || k.in(1).shape()[1] != 4)
      k.fail("eval.shape", "the input must have rank 4 and the regions four numbers");
    const auto batches = k.ints(2);
    const int64_t regions = k.in(1).shape()[0], channels = shape[1], height = shape[2], width = shape[3];
    if (static_cast<int64_t>(batches.size()) != regions || a.output_height < 1 || a.output_width < 1 || height < 1 ||
        width < 1 || a.sampling_ratio > most_samples)
      k.fail("eval.shape", "the sizes of regions, input or output do not suit");
    const bool half = a.coordinate_transformation_mode == "half_pixel";
    const Loaded<double> x(k.in(0)), rois(k.in(1));
    std::vector<double> y(
        static_cast<size_t>(element_count(std::vector<int64_t>{regions, channels, a.output_height, a.output_width})));
    size_t at = 0;
    for (int64_t r = 0; r < regions; ++r) {
      const int64_t batch = batches[static_cast<size_t>(r)];
      if (batch < 0 || batch >= shape[0])
        k.fail("eval.index", cat("batch index ", batch, " is outside a batch of ", shape[0]));
      const auto edge = [&](int64_t i) {
        return rois[r * 4 + i] * static_cast<double>(a.spatial_scale) - (half ? 0.5 : 0);
      };
      const double x0 = edge(0), y0 = edge(1);
      const double w = half ? edge(2) - x0 : std::max(edge(2) - x0, 1.0),
                   h = half ? edge(3) - y0 : std::max(edge(3) - y0, 1.0);
      const double bin_h = h / static_cast<double>(a.output_height), bin_w = w / static_cast<double>(a.output_width);
      const auto samples = [&](double bin) {
        if (a.sampling_ratio > 0) return a.sampling_ratio;
        if (bin > static_cast<double>(most_samples))
          k.fail("eval.index", cat("a region has bins of ", bin, " elements"));
        return bin > 0 ? static_cast<int64_t>(std::ceil(bin)) : 0;
      };
      const int64_t rows = samples(bin_h), columns = samples(bin_w);
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < a.output_height; ++i)
          for (int64_t j = 0; j < a.output_width; ++j) {
            const double* plane = x.data() + (batch * channels + c) * height * width;
            double sum = 0, best = 0;
            for (int64_t n = 0; n < rows * columns; ++n) {
              const double sy = y0 + static_cast<double>(i) * bin_h +
                                (static_cast<double>(n / columns) + 0.5) * bin_h / static_cast<double>(rows);
              const double sx = x0 + static_cast<double>(j) * bin_w +
                                (static_cast<double>(n % columns) + 0.5) * bin_w / static_cast<double>(columns);
              const Point p = point(sy, sx, height, width);
              for (int q = 0; q < 4; ++q) {
                const double v = p.weight[q] * plane[p.at[q]];
                sum += v;
                best = (n == 0 && q == 0) ? v : std::max(best, v);
              }
            }
            y[at++] = a.mode == "max" ? best : sum / static_cast<double>(std::max<int64_t>(rows * columns, 1));
          }
    }
    k.out(0, store(k.in(0).dtype(), {regions, channels, a.output_height, a.output_width}, y));
  }

  static constexpr Revision revisions[] = {
      // Half a pixel was not subtracted before 16.
      {16, [](Upgrade& u) { u.set("coordinate_transformation_mode", std::string("output_half_pixel")); },
       [](Downgrade& d) {
         const auto mode = d.take_string("coordinate_transformation_mode");
         if (mode != "output_half_pixel") d.refuse("RoiAlign before opset 16 does not shift by half a pixel");
       }},
  };
};

struct MaxRoiPool : Rules<op::MaxRoiPool> {
  using A = op::MaxRoiPool;
  static void infer(const A& a, Infer& c) {
    if (c.rank(0) != 4 || c.rank(1) != 2)
      c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", the regions ", c.rank(1), ": 4 and 2 are wanted"));
    if (a.pooled_shape.size() != 2) c.fail("infer.attribute", "'pooled_shape' must be a height and a width");
    want_pooled(c, a.pooled_shape[0], a.pooled_shape[1]);
    c.same(c.dim(1, 1), 5, "the numbers of a region");
    c.out(0, {c.dim(1, 0), c.dim(0, 1), a.pooled_shape[0], a.pooled_shape[1]});
  }

  static void eval(const A& a, Eval& k) {
    const auto& shape = k.in(0).shape();
    if (shape.size() != 4 || k.in(1).rank() != 2 || k.in(1).shape()[1] != 5 || a.pooled_shape.size() != 2 ||
        a.pooled_shape[0] < 1 || a.pooled_shape[1] < 1)
      k.fail("eval.shape", "the input must have rank 4 and the regions five numbers");
    const int64_t regions = k.in(1).shape()[0], channels = shape[1], ph = a.pooled_shape[0], pw = a.pooled_shape[1];
    const Loaded<double> x(k.in(0)), rois(k.in(1));
    std::vector<double> y(static_cast<size_t>(element_count(std::vector<int64_t>{regions, channels, ph, pw})));
    size_t at = 0;
    for (int64_t r = 0; r < regions; ++r) {
      for (int64_t i = 0; i < 5; ++i)
        if (std::isnan(rois[r * 5 + i] * static_cast<double>(a.spatial_scale)))
          k.fail("eval.index", "a region is not a number");
      const auto batch = static_cast<int64_t>(std::clamp(rois[r * 5], -1.0, 1e9));
      if (batch < 0 || batch >= shape[0])
        k.fail("eval.index", cat("batch index ", batch, " is outside a batch of ", shape[0]));
      const auto edge = [&](int64_t i) {
        return static_cast<int64_t>(
            std::round(std::clamp(rois[r * 5 + i] * static_cast<double>(a.spatial_scale), -1e9, 1e9)));
      };
      const int64_t x0 = edge(1), y0 = edge(2), w = std::max<int64_t>(edge(3) - x0 + 1, 1),
                    h = std::max<int64_t>(edge(4) - y0 + 1, 1);
      // The part [lo, hi) of the input that output number i of n covers.
      const auto part = [](int64_t i, int64_t n, int64_t start, int64_t length, int64_t size) {
        const double bin = static_cast<double>(length) / static_cast<double>(n);
        const auto lo = static_cast<int64_t>(std::floor(static_cast<double>(i) * bin)) + start,
                   hi = static_cast<int64_t>(std::ceil(static_cast<double>(i + 1) * bin)) + start;
        return std::pair(std::clamp<int64_t>(lo, 0, size), std::clamp<int64_t>(hi, 0, size));
      };
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t i = 0; i < ph * pw; ++i) {
          const auto rows = part(i / pw, ph, y0, h, shape[2]), columns = part(i % pw, pw, x0, w, shape[3]);
          double best = 0;
          bool first = true;
          for (int64_t u = rows.first; u < rows.second; ++u)
            for (int64_t v = columns.first; v < columns.second; ++v) {
              const double e = x[((batch * channels + c) * shape[2] + u) * shape[3] + v];
              best = first ? e : std::max(best, e);
              first = false;
            }
          y[at++] = best;
        }
    }
    k.out(0, store(k.in(0).dtype(), {regions, channels, ph, pw}, y));
  }
};

constexpr OpRules table[] = {rules<RoiAlign>(), rules<MaxRoiPool>()};

}  // namespace

std::span<const OpRules> roi_rules() { return table; }

}  // namespace cameo::ops
