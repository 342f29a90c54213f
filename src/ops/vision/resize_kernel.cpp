#include "ops/vision/resize_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/axis.h"
#include "kernels/carrier.h"
#include "kernels/move.h"
#include "support/error.h"

namespace cameo::ops {

namespace {

// The input elements one output element is made of. Their indices are inside the input.
struct Sample {
  std::vector<int64_t> index;
  std::vector<double> weight;
  bool outside = false;  // takes the extrapolation value
};

double source_position(double x, const AxisResize& a, std::string_view mode) {
  const double width = a.scale * static_cast<double>(a.in), last = static_cast<double>(a.in - 1);
  if (mode == "half_pixel") return (x + 0.5) / a.scale - 0.5;
  if (mode == "asymmetric") return x / a.scale;
  if (mode == "align_corners") return width == 1 ? 0 : x * last / (width - 1);
  if (mode == "pytorch_half_pixel") return width == 1 ? -0.5 : (x + 0.5) / a.scale - 0.5;
  if (mode == "half_pixel_symmetric") {
    const double centre = static_cast<double>(a.in) / 2, adjusted = static_cast<double>(a.out) / width;
    return centre * (1 - adjusted) + (x + 0.5) / a.scale - 0.5;
  }
  if (mode == "tf_crop_and_resize") {
    const double length = (a.end - a.start) * last;
    return a.start * last + (width == 1 ? length / 2 : x * length / (width - 1));
  }
  throw error("eval.attribute", cat("coordinate_transformation_mode '", mode, "' is unknown"));
}

double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Weights of the taps base - n/2 + 1 ... base + n/2 for a position base + ratio, ratio in (0, 1].
std::vector<double> weights(double ratio, double scale, const ResizeModes& m) {
  const bool is_cubic = m.mode == "cubic";
  const double squeeze = m.antialias ? std::min(scale, 1.0) : 1.0, reach = is_cubic ? 2 : 1;
  const auto half = static_cast<int64_t>(-std::floor(-reach / squeeze));
  if (half > (int64_t{1} << 24))
    throw error("eval.attribute", cat("a scale of ", scale, " is too small for antialiasing"));
  std::vector<double> w;
  double sum = 0;
  for (int64_t i = 1 - half; i <= half; ++i) {
    const double x = (static_cast<double>(i) - ratio) * squeeze;
    w.push_back(is_cubic ? cubic(x, m.cubic_a) : std::clamp(1 - std::abs(x), 0.0, 1.0));
    sum += w.back();
  }
  if (m.antialias)
    for (double& v : w) v /= sum;
  return w;
}

int64_t nearest_of(int64_t base, double ratio, std::string_view mode) {
  if (ratio == 1) return base + 1;
  if (mode == "floor") return base;
  if (mode == "ceil") return base + 1;
  if (mode == "round_prefer_floor") return ratio <= 0.5 ? base : base + 1;
  if (mode == "round_prefer_ceil") return ratio < 0.5 ? base : base + 1;
  throw error("eval.attribute", cat("nearest_mode '", mode, "' is unknown"));
}

void exclude_outside(Sample& s, int64_t size) {
  double sum = 0;
  for (size_t i = 0; i < s.index.size(); ++i) {
    if (s.index[i] < 0 || s.index[i] >= size) s.weight[i] = 0;
    sum += s.weight[i];
  }
  if (sum != 0)
    for (double& w : s.weight) w /= sum;
}

Sample sample_at(int64_t out, const AxisResize& a, const ResizeModes& m) {
  Sample s;
  const double x = source_position(static_cast<double>(out), a, m.coordinates), floor = std::floor(x);
  if (!(std::abs(x) < 1e15)) throw error("eval.attribute", "the scale leads outside all sizes");
  s.outside = m.coordinates == "tf_crop_and_resize" && (x < 0 || x > static_cast<double>(a.in - 1));
  // On an element its left neighbour is the base, so that the ratio is never 0.
  const double ratio = x == floor ? 1 : x - floor;
  const int64_t base = static_cast<int64_t>(floor) - (x == floor);
  if (m.mode == "nearest") {
    s.index = {nearest_of(base, ratio, m.nearest)};
    s.weight = {1};
  } else {
    s.weight = weights(ratio, a.scale, m);
    for (size_t i = 0; i < s.weight.size(); ++i)
      s.index.push_back(base - static_cast<int64_t>(s.weight.size() / 2) + 1 + static_cast<int64_t>(i));
    if (m.exclude_outside) exclude_outside(s, a.in);
  }
  for (int64_t& i : s.index) i = std::clamp<int64_t>(i, 0, a.in - 1);
  return s;
}

std::vector<Sample> samples_of(const AxisResize& a, const ResizeModes& m) {
  std::vector<Sample> out;
  for (int64_t i = 0; i < a.out; ++i) out.push_back(sample_at(i, a, m));
  return out;
}

// Axes that shrink first, so that nothing between is larger than what goes in or comes out.
std::vector<size_t> resize_order(std::span<const int64_t> in, std::span<const int64_t> out) {
  std::vector<size_t> order(in.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto growth = [&](size_t i) { return static_cast<double>(out[i]) / static_cast<double>(in[i]); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return growth(a) < growth(b); });
  return order;
}

bool unchanged(const AxisResize& a) {
  return a.in == a.out && std::abs(a.scale - 1) < 1e-9 && a.start == 0 && a.end == 1;
}

// Only moves elements, so it serves strings and complex numbers too.
Tensor resize_nearest(const Tensor& x, const std::vector<AxisResize>& axes, const ResizeModes& m) {
  std::vector<int64_t> shape, index{0};
  for (const AxisResize& a : axes) {
    std::vector<int64_t> from(static_cast<size_t>(a.out)), next;
    for (int64_t i = 0; i < a.out; ++i) {
      from[static_cast<size_t>(i)] = i;
      if (unchanged(a)) continue;
      const Sample s = sample_at(i, a, m);
      from[static_cast<size_t>(i)] = s.outside ? -1 : s.index[0];
    }
    shape.push_back(a.out);
    next.reserve(index.size() * from.size());
    for (const int64_t at : index)
      for (const int64_t f : from) next.push_back(at < 0 || f < 0 ? -1 : at * a.in + f);
    index = std::move(next);
  }
  const bool number = carrier_of(x.dtype()) != Carrier::none;
  const Tensor fill = number ? full(x.dtype(), {1}, m.extrapolation) : zeros(x.dtype(), {1});
  return take(x, shape, index, &fill);
}

std::vector<double> along_axis(const std::vector<double>& x, int64_t outer, int64_t inner, const AxisResize& a,
                               const ResizeModes& m) {
  const auto samples = samples_of(a, m);
  std::vector<double> y(static_cast<size_t>(outer * a.out * inner), 0);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < a.out; ++i) {
      const Sample& s = samples[static_cast<size_t>(i)];
      double* to = y.data() + (o * a.out + i) * inner;
      if (s.outside) {
        std::fill_n(to, inner, m.extrapolation);
        continue;
      }
      for (size_t t = 0; t < s.index.size(); ++t) {
        const double* from = x.data() + (o * a.in + s.index[t]) * inner;
        for (int64_t j = 0; j < inner; ++j) to[j] += s.weight[t] * from[j];
      }
    }
  return y;
}

// Interpolated values rounded and clamped to an integer type.
void settle(std::vector<double>& y, DType t) {
  if (!is_int(t) && t != DType::boolean) return;
  const double lo = is_signed_int(t) ? -std::ldexp(1, bits(t) - 1) : 0;
  const double hi = t == DType::boolean ? 1 : std::ldexp(1, bits(t) - is_signed_int(t)) - 1;
  for (double& v : y) v = std::clamp(std::nearbyint(v), lo, hi);
}

}  // namespace

int64_t resized_size(double size) {
  constexpr double most = 0x1p48;
  if (!(size >= 0 && size < most)) throw error("value.range", cat("a size of ", size));
  return static_cast<int64_t>(std::floor(size));
}

int64_t scaled_size(int64_t size, float scale) {
  return resized_size(static_cast<double>(static_cast<float>(size) * scale));
}

Tensor resize(const Tensor& x, const std::vector<AxisResize>& axes, const ResizeModes& m) {
  std::vector<int64_t> shape;
  for (const AxisResize& a : axes) {
    if (a.out < 0 || (a.in == 0 && a.out > 0))
      throw error("eval.shape", cat("an axis of size ", a.in, " cannot be resized to ", a.out));
    if (!(a.scale > 0) || std::isinf(a.scale)) throw error("eval.attribute", cat("a scale of ", a.scale));
    shape.push_back(a.out);
  }
  if (element_count(shape) == 0) return zeros(x.dtype(), shape);
  if (m.mode == "nearest") return resize_nearest(x, axes, m);
  if (m.mode != "linear" && m.mode != "cubic")
    throw error("eval.attribute", cat("mode '", m.mode, "' is not one of nearest, linear, cubic"));
  const Loaded<double> loaded(x);
  std::vector<double> y(loaded.span().begin(), loaded.span().end());
  std::vector<int64_t> sizes = x.shape();
  for (const size_t i : resize_order(x.shape(), shape)) {
    if (unchanged(axes[i])) continue;
    const AxisView view(sizes, static_cast<int64_t>(i));
    y = along_axis(y, view.outer, view.inner, axes[i], m);
    sizes[i] = axes[i].out;
  }
  settle(y, x.dtype());
  return store(x.dtype(), shape, y);
}

}  // namespace cameo::ops
