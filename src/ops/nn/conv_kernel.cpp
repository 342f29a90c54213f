#include "ops/nn/conv_kernel.h"

#include <algorithm>

#include "ir/tensor.h"

namespace cameo::ops {

namespace {

// Walks the windows in which a tap lies inside the input, a run along the last axis at a time.
class Walker {
 public:
  explicit Walker(const Windows& w) : w_(w), at_(w.rank()), out_step_(w.rank()), in_step_(w.rank()) {
    int64_t out = 1, in = 1;
    for (size_t i = w.rank(); i-- > 0; out *= w.out[i], in *= w.in[i])
      out_step_[i] = out, in_step_[i] = in * w.strides[i];
  }

  // Calls run(first window, its input position, count, input stride).
  template <class F>
  void each_run(const Tap& tap, F&& run) {
    if (tap.empty()) return;
    const size_t n = w_.rank();
    if (n == 0) return run(int64_t{0}, int64_t{0}, int64_t{1}, int64_t{1});
    at_ = tap.lo;
    while (true) {
      int64_t to = 0, from = tap.start;
      for (size_t i = 0; i < n; ++i) to += at_[i] * out_step_[i], from += at_[i] * in_step_[i];
      run(to, from, tap.hi[n - 1] - tap.lo[n - 1], in_step_[n - 1]);
      size_t i = n - 1;
      while (i-- > 0) {
        if (++at_[i] < tap.hi[i]) break;
        at_[i] = tap.lo[i];
      }
      if (i == SIZE_MAX) return;
    }
  }

 private:
  const Windows& w_;
  std::vector<int64_t> at_, out_step_, in_step_;
};

// Neighbours are a loop of their own, which compilers vectorise.
template <class C>
void add_gathered(C* to, const C* from, C weight, int64_t count, int64_t stride) {
  if (stride == 1)
    for (int64_t k = 0; k < count; ++k) to[k] += weight * from[k];
  else
    for (int64_t k = 0; k < count; ++k) to[k] += weight * from[k * stride];
}

std::vector<Tap> all_taps(const Windows& w) {
  std::vector<Tap> taps;
  std::vector<int64_t> k(w.rank(), 0);
  do taps.push_back(tap_at(w, k));
  while (next_index(k, w.kernel));
  return taps;
}

template <class C>
std::vector<C> start_from_bias(int64_t batch, int64_t channels, int64_t plane, std::span<const C> bias) {
  std::vector<C> y(static_cast<size_t>(element_count(std::vector<int64_t>{batch, channels, plane})), C{});
  if (bias.empty() || y.empty()) return y;
  for (int64_t i = 0; i < batch * channels; ++i)
    std::fill_n(y.data() + i * plane, plane, bias[static_cast<size_t>(i % channels)]);
  return y;
}

// Every pair of channels that a weight connects, `outer` being the one that the weights are ordered by:
// f(batch, outer channel, inner channel, the pair's number among the kernels).
template <class F>
void each_pair(int64_t batch, int64_t outer, int64_t inner, int64_t groups, F f) {
  const int64_t outer_group = outer / groups, inner_group = inner / groups;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner_group; ++i) f(n, o, o / outer_group * inner_group + i, o * inner_group + i);
}

}  // namespace

template <class C>
std::vector<C> convolve(const ConvSizes& s, std::span<const C> x, std::span<const C> w, std::span<const C> bias) {
  const Windows& win = s.windows;
  const int64_t in_plane = win.in_count(), out_plane = win.out_count();
  std::vector<C> y = start_from_bias<C>(s.batch, s.out_channels, out_plane, bias);
  if (y.empty() || x.empty() || w.empty()) return y;
  const auto taps = all_taps(win);
  Walker walker(win);
  each_pair(s.batch, s.out_channels, s.in_channels, s.groups, [&](int64_t n, int64_t m, int64_t c, int64_t kernel) {
    C* to = y.data() + (n * s.out_channels + m) * out_plane;
    const C* from = x.data() + (n * s.in_channels + c) * in_plane;
    for (size_t t = 0; t < taps.size(); ++t) {
      const C weight = w[static_cast<size_t>(kernel) * taps.size() + t];
      walker.each_run(taps[t], [&](int64_t o, int64_t i, int64_t count, int64_t stride) {
        add_gathered(to + o, from + i, weight, count, stride);
      });
    }
  });
  return y;
}

template <class C>
std::vector<C> convolve_transposed(const ConvSizes& s, std::span<const C> x, std::span<const C> w,
                                   std::span<const C> bias) {
  const Windows& win = s.windows;
  const int64_t y_plane = win.in_count(), x_plane = win.out_count();
  std::vector<C> y = start_from_bias<C>(s.batch, s.out_channels, y_plane, bias);
  if (y.empty() || x.empty() || w.empty()) return y;
  const auto taps = all_taps(win);
  Walker walker(win);
  each_pair(s.batch, s.in_channels, s.out_channels, s.groups, [&](int64_t n, int64_t c, int64_t m, int64_t kernel) {
    const C* from = x.data() + (n * s.in_channels + c) * x_plane;
    C* to = y.data() + (n * s.out_channels + m) * y_plane;
    for (size_t t = 0; t < taps.size(); ++t) {
      const C weight = w[static_cast<size_t>(kernel) * taps.size() + t];
      walker.each_run(taps[t], [&](int64_t o, int64_t i, int64_t count, int64_t stride) {
        for (int64_t k = 0; k < count; ++k) to[i + k * stride] += weight * from[o + k];
      });
    }
  });
  return y;
}

template std::vector<float> convolve(const ConvSizes&, std::span<const float>, std::span<const float>,
                                     std::span<const float>);
template std::vector<double> convolve(const ConvSizes&, std::span<const double>, std::span<const double>,
                                      std::span<const double>);
template std::vector<int64_t> convolve(const ConvSizes&, std::span<const int64_t>, std::span<const int64_t>,
                                       std::span<const int64_t>);
template std::vector<float> convolve_transposed(const ConvSizes&, std::span<const float>, std::span<const float>,
                                                std::span<const float>);
template std::vector<double> convolve_transposed(const ConvSizes&, std::span<const double>, std::span<const double>,
                                                 std::span<const double>);

}  // namespace cameo::ops
