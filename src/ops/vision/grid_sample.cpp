#include <algorithm>
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/window.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"
#include "ops/vision/grid_sample_expand.h"

namespace cameo::ops {

namespace {

// The input positions along one axis that a sample is made of; -1 lies outside and counts as zero.
struct AxisTaps {
  int64_t index[4];
  double weight[4];
  int count = 0;
};

struct GridSample : Rules<op::GridSample> {
  using A = op::GridSample;

  static constexpr int64_t most_axes = 8;  // a sample has four taps for every axis, multiplied out

  static void infer(const A& a, Infer& c) {
    const int64_t rank = c.rank(0);
    if (rank < 3 || rank > most_axes || c.rank(1) != rank)
      c.fail("infer.rank", cat("the input has rank ", rank, ", the grid ", c.rank(1)));
    want_word(c, "mode", a.mode, {"linear", "nearest", "cubic"});
    want_word(c, "padding_mode", a.padding_mode, {"zeros", "border", "reflection"});
    c.same(c.dim(1, rank - 1), rank - 2, "the grid's last size and the spatial axes");
    Shape out{c.same(c.dim(0, 0), c.dim(1, 0), "the batches of input and grid"), c.dim(0, 1)};
    for (int64_t i = 1; i < rank - 1; ++i) out.push_back(c.dim(1, i));
    c.out(0, std::move(out));
  }

  static double reflect(double x, double lo, double hi) {
    const double range = hi - lo;
    if (range <= 0) return lo;
    const double beyond = x < lo ? lo - x : x > hi ? x - hi : 0;
    if (beyond == 0) return x;
    const double turns = std::trunc(beyond / range), rest = beyond - turns * range;
    const bool from_lo = (x < lo) == (std::fmod(turns, 2) == 0);
    return from_lo ? lo + rest : hi - rest;
  }

  static int64_t position(const A& a, int64_t i, int64_t size, double lo, double hi) {
    if (a.padding_mode == "zeros") return i >= 0 && i < size ? i : -1;
    if (a.padding_mode == "border") return std::clamp<int64_t>(i, 0, size - 1);
    return std::clamp<int64_t>(static_cast<int64_t>(reflect(static_cast<double>(i), lo, hi)), 0, size - 1);
  }

  static void cubic_weights(double x, double w[4]) {
    constexpr double k = -0.75;
    const auto outer = [](double d) { return ((k * d - 5 * k) * d + 8 * k) * d - 4 * k; };
    const auto inner = [](double d) { return ((k + 2) * d - (k + 3)) * d * d + 1; };
    w[0] = outer(x + 1), w[1] = inner(x), w[2] = inner(1 - x), w[3] = outer(2 - x);
  }

  // `n` is the normalised coordinate, in the grid's precision.
  template <class C>
  static AxisTaps taps(const A& a, C n, int64_t size) {
    const C length = static_cast<C>(size);
    double x = static_cast<double>(a.align_corners ? (n + 1) / C(2) * (length - 1) : ((n + 1) * length - 1) / C(2));
    if (!std::isfinite(x)) x = -1e9;
    x = std::clamp(x, -1e9, 1e9);
    const double lo = a.align_corners ? 0 : -0.5, hi = static_cast<double>(size) - (a.align_corners ? 1.0 : 0.5);
    if (a.mode == "nearest") x = std::nearbyint(x);
    if (x < lo || x > hi) {
      if (a.padding_mode == "border") x = std::clamp(x, 0.0, static_cast<double>(size - 1));
      else if (a.padding_mode == "reflection") x = reflect(x, lo, hi);
    }
    AxisTaps t;
    const double floor = std::floor(x);
    const auto base = static_cast<int64_t>(floor);
    const auto put = [&](int64_t i) { t.index[t.count++] = position(a, i, size, lo, hi); };
    if (a.mode == "nearest") {
      put(static_cast<int64_t>(x));
      t.weight[0] = 1;
    } else if (a.mode == "linear") {
      put(base), put(base + 1);
      t.weight[0] = 1 - (x - floor), t.weight[1] = x - floor;
    } else {
      for (int64_t i = base - 1; i <= base + 2; ++i) put(i);
      cubic_weights(x - floor, t.weight);
    }
    return t;
  }

  // The taps of all axes multiplied out: flat positions and weights.
  static void combine(const std::vector<AxisTaps>& axes, const std::vector<int64_t>& sizes, std::vector<int64_t>& index,
                      std::vector<double>& weight) {
    index.assign(1, 0), weight.assign(1, 1.0);
    for (size_t d = 0; d < axes.size(); ++d) {
      std::vector<int64_t> next_index;
      std::vector<double> next_weight;
      for (size_t i = 0; i < index.size(); ++i)
        for (int t = 0; t < axes[d].count; ++t) {
          const int64_t at = axes[d].index[t];
          next_index.push_back(index[i] < 0 || at < 0 ? -1 : index[i] * sizes[d] + at);
          next_weight.push_back(weight[i] * axes[d].weight[t]);
        }
      index = std::move(next_index), weight = std::move(next_weight);
    }
  }

  // Calls f(batch, output point, positions, weights).
  template <class C, class F>
  static void for_each_point(const A& a, const Tensor& grid, const std::vector<int64_t>& sizes, F&& f) {
    const Loaded<C> g(grid);
    const auto n = static_cast<int64_t>(sizes.size());
    const int64_t batch = grid.shape()[0], points = batch ? grid.count() / n / batch : 0;
    std::vector<AxisTaps> axes(sizes.size());
    std::vector<int64_t> index;
    std::vector<double> weight;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t p = 0; p < points; ++p) {
        for (int64_t d = 0; d < n; ++d)
          axes[static_cast<size_t>(d)] = taps<C>(a, g[(b * points + p) * n + n - 1 - d], sizes[static_cast<size_t>(d)]);
        combine(axes, sizes, index, weight);
        f(b, p, points, index, weight);
      }
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    const Tensor& grid = k.in(1);
    if (x.rank() < 3 || x.rank() > most_axes || grid.rank() != x.rank() || grid.shape().back() != x.rank() - 2 ||
        grid.shape()[0] != x.shape()[0])
      k.fail("eval.shape", "the grid does not suit the input");
    if (a.mode != "nearest" && a.mode != "linear" && a.mode != "cubic")
      k.fail("eval.attribute", cat("mode '", a.mode, "' is not one of nearest, linear, cubic"));
    const auto sizes = spatial_of(x.shape());
    const int64_t channels = x.shape()[1], plane = product(sizes);
    std::vector<int64_t> shape{x.shape()[0], channels};
    shape.insert(shape.end(), grid.shape().begin() + 1, grid.shape().end() - 1);
    if (element_count(shape) == 0) return k.out(0, zeros(x.dtype(), shape));
    if (plane == 0) k.fail("eval.shape", "an empty input has nothing to sample");
    const auto walk = [&](auto&& f) {
      grid.dtype() == DType::f64 ? for_each_point<double>(a, grid, sizes, f) : for_each_point<float>(a, grid, sizes, f);
    };
    if (a.mode == "nearest") {
      std::vector<int64_t> from(static_cast<size_t>(element_count(shape)));
      walk([&](int64_t b, int64_t p, int64_t points, const auto& index, const auto&) {
        for (int64_t c = b * channels; c < (b + 1) * channels; ++c)
          from[static_cast<size_t>(c * points + p)] = index[0] < 0 ? -1 : c * plane + index[0];
      });
      return k.out(0, take(x, shape, from));
    }
    const Loaded<double> v(x);
    std::vector<double> y(static_cast<size_t>(element_count(shape)));
    walk([&](int64_t b, int64_t p, int64_t points, const auto& index, const auto& weight) {
      for (int64_t c = b * channels; c < (b + 1) * channels; ++c) {
        double sum = 0;
        for (size_t i = 0; i < index.size(); ++i)
          if (index[i] >= 0) sum += weight[i] * v[c * plane + index[i]];
        y[static_cast<size_t>(c * points + p)] = sum;
      }
    });
    k.out(0, store(x.dtype(), shape, y));
  }

  static constexpr Revision revisions[] = {
      // The modes were named after images before volumes came.
      {20,
       [](Upgrade& u) {
         const auto mode = u.take_string("mode").value_or("bilinear");
         u.set("mode", mode == "bilinear" ? std::string("linear") : mode == "bicubic" ? std::string("cubic") : mode);
       },
       [](Downgrade& d) {
         const auto mode = d.take_string("mode").value_or("linear");
         const Fact& x = d.fact(d.inputs[0]);
         if (!x.has_rank() || x.rank() != 4) return d.refuse("only images (rank 4) are sampled before opset 20");
         d.set("mode", mode == "linear" ? std::string("bilinear") : mode == "cubic" ? std::string("bicubic") : mode);
       }},
  };
  static constexpr Expansion expansions[] = {
      expansion<A>(16, Exactness::rounding, [](const A& a, Expand& e) { expand_grid_sample(a, e); }),
      expansion<A>(
          20, Exactness::rounding, [](const A& a, Expand& e) { expand_grid_sample(a, e); },
          [](const A&, const Graph& g, NodeId n, int64_t) {
            return !g[g.input(n, 0)].fact.has_rank() || g[g.input(n, 0)].fact.rank() != 4;
          }),
  };
};

constexpr OpRules table[] = {rules<GridSample>()};

}  // namespace

std::span<const OpRules> grid_sample_rules() { return table; }

}  // namespace cameo::ops
