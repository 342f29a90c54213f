// Inverse and Hermitian transforms of real tensors to real tensors, as products with cosines and sines. What has complex
// numbers at its ends is refused: ONNX's runtimes have no complex tensors.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/carrier.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo {

namespace {

struct Complex {
  V re, im;  // no im: a real number
};

// x, cut to what the matrix takes, times the matrix along an axis.
V transformed(Lower& on, V x, int64_t axis, int64_t taken, int64_t out, const std::vector<double>& matrix) {
  const V m = on.constant(store(on.dtype(x), {taken, out}, matrix));
  return moved(on, on.MatMul(moved(on, on.slice(x, axis, Dim(0), Dim(taken)), {axis}, {-1}), m), {-1}, {axis});
}

template <class Weight>
std::vector<double> waves(int64_t in, int64_t out, int64_t period, bool cosine, const Weight& weight) {
  std::vector<double> m;
  for (int64_t j = 0; j < in; ++j)
    for (int64_t k = 0; k < out; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % period) / static_cast<double>(period);
      m.push_back(weight(j) * (cosine ? std::cos(angle) : std::sin(angle)));
    }
  return m;
}

Complex inverse_along(Lower& on, Complex x, int64_t axis, int64_t n) {
  const int64_t in = std::min(n, known_size(on, x.re, axis, "a Fourier transform"));
  const auto one = [](int64_t) { return 1.0; };
  const auto part = [&](V v, bool cosine) { return transformed(on, v, axis, in, n, waves(in, n, n, cosine, one)); };
  if (!x.im.valid()) return {part(x.re, true), part(x.re, false)};
  return {on.Sub(part(x.re, true), part(x.im, false)), on.Add(part(x.re, false), part(x.im, true))};
}
// The last axis holds one half; the other mirrors it.
V mirrored_along(Lower& on, Complex x, int64_t axis, int64_t n) {
  const int64_t in = std::min(n / 2 + 1, known_size(on, x.re, axis, "a Fourier transform"));
  const auto twice = [&](int64_t j) { return j == 0 || 2 * j == n ? 1.0 : 2.0; };
  const V re = transformed(on, x.re, axis, in, n, waves(in, n, n, true, twice));
  return x.im.valid() ? V(on.Sub(re, transformed(on, x.im, axis, in, n, waves(in, n, n, false, twice)))) : re;
}

V to_real(Lower& on, V x, const Opt<Dims>& sizes, const Ints& axes, const Opt<Str>& norm, bool hermitian) {
  if (!on.is_float(x)) x = is_complex(on.dtype(x)) ? x : on.to(x, default_float);
  if (!on.is_float(x)) unsupported("a Fourier transform of complex numbers");
  Complex y{x, {}};
  double count = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool last = i + 1 == axes.size();
    const Opt<int64_t> given = sizes && i < sizes->size() && !(*sizes)[i].is(-1) ? (*sizes)[i].known() : std::nullopt;
    const int64_t own = known_size(on, x, axes[i], "a Fourier transform"), n = given.value_or(last ? 2 * (own - 1) : own);
    count *= static_cast<double>(n);
    if (last) y = {mirrored_along(on, y, axes[i], n), {}};
    else y = inverse_along(on, y, axes[i], n);
  }
  const Str how = norm.value_or("backward");
  const double scale = how == "ortho" ? 1 / std::sqrt(count) : (how == "forward") == hermitian ? 1 / count : 1;
  return scale == 1 ? y.re : V(on.Mul(y.re, on.number_like(scale, x)));
}

template <bool Hermitian>
V one_axis(Lower& on, V x, Opt<Dim> n, int64_t dim, Opt<Str> norm) {
  return to_real(on, x, n ? Opt<Dims>(Dims{*n}) : std::nullopt, {on.axis(x, dim)}, norm, Hermitian);
}
template <bool Hermitian>
V some_axes(Lower& on, V x, Opt<Dims> sizes, Opt<Ints> dims, Opt<Str> norm) {
  Ints axes = dims ? on.axes(x, *dims) : on.all_axes(x);
  if (!dims && sizes) axes.erase(axes.begin(), axes.end() - static_cast<std::ptrdiff_t>(sizes->size()));
  return to_real(on, x, sizes, axes, norm, Hermitian);
}

constexpr Row table[] = {
    {"aten::fft_irfft", fn<one_axis<false>>}, {"aten::fft_hfft", fn<one_axis<true>>},
    {"aten::fft_irfft2", fn<some_axes<false>>}, {"aten::fft_hfft2", fn<some_axes<true>>},
    {"aten::fft_irfftn", fn<some_axes<false>>}, {"aten::fft_hfftn", fn<some_axes<true>>},
};

}  // namespace

std::span<const Row> fourier_rows() { return table; }

}  // namespace cameo
