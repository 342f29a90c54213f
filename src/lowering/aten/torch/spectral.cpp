// torch, Spectral Ops: short-time Fourier transforms, windows.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/carrier.h"
#include "lowering/aten/fft/dft.h"
#include "lowering/aten/linalg/matrix.h"
#include "lowering/aten/special/series.h"
#include "lowering/complex.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V wide_window(Lower& on, const Opt<V>& window, int64_t width, int64_t n, DType t) {
  V w = window ? on.to(*window, t) : on.full({Dim(width)}, Num(1.0), t);
  const int64_t left = (n - width) / 2, right = n - width - left;
  if (left + right == 0) return w;
  return on.concat({on.full({Dim(left)}, Num(0.0), t), w, on.full({Dim(right)}, Num(0.0), t)}, 0);
}

V short_time(Lower& on, V x, int64_t n, Opt<int64_t> hop, Opt<int64_t> width, Opt<V> window, bool normalized,
             Opt<bool> onesided, Opt<bool> as_complex) {
  x = as_floats(on, x);
  const bool whole = is_complex(on.dtype(x)), single = on.rank(x) == 1;
  if (single) x = on.unsqueeze(x, {0});
  if (window && is_complex(on.dtype(*window))) unsupported("stft with a complex window");
  const DType t = whole ? real_type(on.dtype(x)) : on.dtype(x);
  const V frames = on.STFT(pair_or_single(on, x), on.On::int_scalar(hop.value_or(n / 4)),
                           wide_window(on, window, width.value_or(n), n, t), on.On::int_scalar(n),
                           {.onesided = onesided.value_or(!whole)});
  V y = on.transpose(frames, {0, 2, 1, 3});
  if (normalized) y = on.Mul(y, on.number_like(1 / std::sqrt(static_cast<double>(n)), y));
  if (single) y = on.squeeze(y, {0});
  return as_complex.value_or(false) ? complex_of_pair(on, y) : y;
}

// Frames back in their places, overlaps added, divided by what the windows sum up to.
V from_short_time(Lower& on, V z, int64_t n, Opt<int64_t> hop, Opt<int64_t> width, Opt<V> window, bool center,
                  bool normalized, Opt<bool>, Opt<Dim> length, bool as_complex) {
  if (as_complex) unsupported("istft with a complex result");
  const bool single = on.rank(z) == 2;
  if (single) z = on.unsqueeze(z, {0});
  const int64_t step = hop.value_or(n / 4);
  V frames = mirrored(on, z, 1, Dim(n));  // of all frequencies too, torch takes one half
  if (normalized) frames = on.Mul(frames, on.number_like(std::sqrt(static_cast<double>(n)), frames));
  const V w = on.unsqueeze(wide_window(on, window, width.value_or(n), n, on.dtype(frames)), {1});
  const V places = on.unsqueeze(eye(on, Dim(n), Dim(n), on.dtype(frames)), {1});
  const auto overlapped = [&](V x) { return V(on.ConvTranspose(x, places, {}, {.strides = Ints{step}})); };
  const V squares = on.expand(on.unsqueeze(on.Mul(w, w), {0}), {Dim(1), Dim(n), on.dim(frames, 2)});
  V y = overlapped(on.Mul(frames, w)), sums = overlapped(squares);
  const Dim total = (on.dim(frames, 2) - Dim(1)) * Dim(step) + Dim(n), start(center ? n / 2 : 0);
  const Dim end =
      length ? min(start + *length, total) : total - Dim(center ? n / 2 : 1);  // torch leaves the last sample out
  const auto cut = [&](V x) { return on.squeeze(on.slice(x, 2, start, end), {1}); };
  y = on.Div(cut(y), cut(sums));
  if (length) y = resized_axis(on, y, 1, *length);
  return single ? on.squeeze(y, {0}) : y;
}

template <class F>
V window(Lower& on, int64_t n, bool periodic, const Opt<DType>& t, const F& at) {
  constexpr int64_t most = 1 << 26;
  if (n < 0 || n > most) unsupported(cat("a window of ", n, " elements"));
  std::vector<double> values;
  const double period = static_cast<double>(periodic ? n : n - 1);
  for (int64_t i = 0; i < n; ++i) values.push_back(n == 1 ? 1.0 : at(static_cast<double>(i) / period));
  return on.constant(store(t.value_or(default_float), {n}, values));
}

template <int Which>
double shape_at(double x) {
  const double turn = 2 * std::numbers::pi * x;
  if constexpr (Which == 0) return 0.5 - 0.5 * std::cos(turn);
  if constexpr (Which == 1) return 0.54 - 0.46 * std::cos(turn);
  if constexpr (Which == 2) return 0.42 - 0.5 * std::cos(turn) + 0.08 * std::cos(2 * turn);
  return 1 - std::abs(2 * x - 1);
}

template <int Which>
V periodic_window(Lower& on, int64_t n, Opt<DType> t) {
  return window(on, n, true, t, shape_at<Which>);
}

template <int Which>
V any_window(Lower& on, int64_t n, bool periodic, Opt<DType> t) {
  return window(on, n, periodic, t, shape_at<Which>);
}

double bessel_i0(double x) {
  double sum = 1, term = 1;
  for (int k = 1; k < 60; ++k) sum += term *= (x / 2 / k) * (x / 2 / k);
  return sum;
}

V kaiser(Lower& on, int64_t n, bool periodic, double beta, const Opt<DType>& t) {
  return window(on, n, periodic, t, [&](double x) {
    return bessel_i0(beta * std::sqrt(std::max(0.0, 1 - (2 * x - 1) * (2 * x - 1)))) / bessel_i0(beta);
  });
}

constexpr Row table[] = {
    {"aten::stft", fn<short_time>},
    {"aten::stft.center",
     [](Lower& on, V x, int64_t n, Opt<int64_t> hop, Opt<int64_t> width, Opt<V> window, bool center, Str mode,
        bool normalized, Opt<bool> onesided, Opt<bool> as_complex) {
       if (center) {
         const V pads = on.ints({n / 2, n / 2}), last = on.ints({on.rank(x) - 1});
         x = on.Pad(x, pads, {}, last, {.mode = mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : mode});
       }
       return short_time(on, x, n, hop, width, window, normalized, onesided, as_complex);
     }},
    {"aten::istft", fn<from_short_time>},
    {"aten::hann_window", fn<periodic_window<0>>},
    {"aten::hann_window.periodic", fn<any_window<0>>},
    {"aten::hamming_window", fn<periodic_window<1>>},
    {"aten::hamming_window.periodic", fn<any_window<1>>},
    {"aten::blackman_window", fn<periodic_window<2>>},
    {"aten::blackman_window.periodic", fn<any_window<2>>},
    {"aten::bartlett_window", fn<periodic_window<3>>},
    {"aten::bartlett_window.periodic", fn<any_window<3>>},
    {"aten::kaiser_window", [](Lower& on, int64_t n, Opt<DType> t) { return kaiser(on, n, true, 12, t); }},
    {"aten::kaiser_window.periodic",
     [](Lower& on, int64_t n, bool p, Opt<DType> t) { return kaiser(on, n, p, 12, t); }},
    {"aten::kaiser_window.beta",
     [](Lower& on, int64_t n, bool p, double beta, Opt<DType> t) { return kaiser(on, n, p, beta, t); }},
};

}  // namespace

std::span<const Row> torch_spectral_rows() { return table; }

}  // namespace cameo::lowering
