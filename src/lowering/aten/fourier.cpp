// Fourier transforms: DFT over pairs of reals; sums with cosines and sines where the result is real and small.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/carrier.h"
#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

enum class Kind : uint8_t { to_complex, inverse, half, half_inverse, to_real, to_real_hermitian };
enum class Scale : uint8_t { none, root, all };  // torch's numbers for what a transform divides by

V as_floats(Lower& on, V x) { return on.is_float(x) || is_complex(on.dtype(x)) ? x : on.to(x, default_float); }

// Cut or filled with zeros to size n.
V resized(Lower& on, V x, int64_t axis, Dim n) {
  const Dim own = on.dim(x, axis);
  if (on.provably(own, n)) return x;
  if (!own.is_literal() || !n.is_literal())
    unsupported("a Fourier transform of another size than the tensor's, which depends on the inputs");
  if (n.literal() < own.literal()) return on.slice(x, axis, Dim(0), n);
  Dims more = on.shape(x);
  more[static_cast<size_t>(axis)] = n - own;
  return on.concat({x, on.full(more, Num(0.0), on.dtype(x))}, axis);
}

V pair_or_single(Lower& on, V x) { return is_complex(on.dtype(x)) ? pair_of(on, x) : on.unsqueeze(x, {on.rank(x)}); }

V transformed(Lower& on, V x, int64_t axis, bool inverse, bool half) {
  const V signal = pair_or_single(on, x);
  return complex_of_pair(on, on.DFT(signal, {}, on.On::int_scalar(axis), {.inverse = inverse, .onesided = half}));
}

// x, cut to what the matrix takes, times the matrix along an axis.
V multiplied(Lower& on, V x, int64_t axis, int64_t taken, int64_t out, const std::vector<double>& matrix) {
  const V m = on.constant(store(on.dtype(x), {taken, out}, matrix));
  return moved(on, on.MatMul(moved(on, on.slice(x, axis, Dim(0), Dim(taken)), {axis}, {-1}), m), {-1}, {axis});
}
// Waves of period n; each but the first and the middle one stands for its mirror image too.
std::vector<double> waves(int64_t in, int64_t n, bool cosine) {
  std::vector<double> m;
  for (int64_t j = 0; j < in; ++j)
    for (int64_t k = 0; k < n; ++k) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      m.push_back((j == 0 || 2 * j == n ? 1.0 : 2.0) * (cosine ? std::cos(angle) : std::sin(angle)) /
                  static_cast<double>(n));
    }
  return m;
}

// The axis holds one half of n; the other mirrors it. Divided by n.
V mirrored(Lower& on, V x, int64_t axis, Dim n) {
  constexpr int64_t small = 256;
  if (n.is_literal() && n.literal() <= small) {
    const int64_t in = std::min(n.literal() / 2 + 1, known_size(on, x, axis, "a Fourier transform"));
    const ComplexParts p = parts_of(on, x);
    const V re = multiplied(on, p.re, axis, in, n.literal(), waves(in, n.literal(), true));
    return p.im.valid() ? V(on.Sub(re, multiplied(on, p.im, axis, in, n.literal(), waves(in, n.literal(), false))))
                        : re;
  }
  const Dim half = floor_div(n, Dim(2)) + Dim(1);
  x = resized(on, x, axis, half);
  const V inner = on.slice(x, axis, Dim(1), Dim(1) + (n - half));
  const V back = on.Slice(inner, on.ints({-1}), on.ints({INT64_MIN + 1}), on.ints({axis}), on.ints({-1}));
  on.graph().fact(back).type.shape = on.shape(inner);
  const V whole = on.concat({x, is_complex(on.dtype(x)) ? conjugate(on, back) : back}, axis);
  return parts_of(on, transformed(on, whole, axis, true, false)).re;
}

V scaled(Lower& on, V x, Dim count, bool divided, Scale wanted) {
  if (divided ? wanted == Scale::all : wanted == Scale::none) return x;
  const DType t = is_complex(on.dtype(x)) ? real_type(on.dtype(x)) : on.dtype(x);
  V n = count.is_literal() ? on.number(static_cast<double>(count.literal()), t) : on.to(on.int_scalar(count), t);
  if (wanted == Scale::root) n = on.Sqrt(n);
  n = on.to(n, on.dtype(x));
  return divided ? V(on.Mul(x, n)) : V(on.Div(x, n));
}

V transform(Lower& on, V x, Kind kind, const Ints& axes, const Opt<Dims>& sizes, Scale scale) {
  x = as_floats(on, x);
  const bool real = kind == Kind::to_real || kind == Kind::to_real_hermitian,
             half = kind == Kind::half || kind == Kind::half_inverse;
  const bool back = kind == Kind::inverse || real;
  if (half && is_complex(on.dtype(x))) unsupported("a real Fourier transform of complex numbers");
  if (kind == Kind::to_real_hermitian && is_complex(on.dtype(x))) x = conjugate(on, x);
  if (real && axes.empty()) unsupported("a Fourier transform over no axis");
  Dim count(1);
  Dims goal;
  for (size_t i = 0; i < axes.size(); ++i) {
    const bool given = sizes && i < sizes->size() && !(*sizes)[i].is(-1);
    const Dim own = on.dim(x, axes[i]);
    goal.push_back(given ? (*sizes)[i] : real && i + 1 == axes.size() ? (own - Dim(1)) * Dim(2) : own);
    count = count * goal.back();
    if (!real || i + 1 != axes.size()) x = resized(on, x, axes[i], goal.back());
  }
  if (half && !axes.empty()) x = transformed(on, x, axes.back(), false, true);
  for (size_t i = 0; i < axes.size(); ++i)
    if (i + 1 != axes.size() || (!half && !real)) x = transformed(on, x, axes[i], back, false);
  if (real) x = mirrored(on, x, axes.back(), goal.back());
  if (kind == Kind::half_inverse) x = conjugate(on, x);
  return scaled(on, x, count, back, scale);
}

Scale scale_of(const Opt<Str>& norm, bool inverse) {
  const Str how = norm.value_or("backward");
  if (how == "ortho") return Scale::root;
  return (how == "backward") == inverse ? Scale::all : Scale::none;
}
bool divides(Kind k) { return k == Kind::inverse || k == Kind::half_inverse || k == Kind::to_real; }

template <Kind K>
V one_axis(Lower& on, V x, Opt<Dim> n, int64_t dim, Opt<Str> norm) {
  return transform(on, x, K, {on.axis(x, dim)}, n ? Opt<Dims>(Dims{*n}) : std::nullopt, scale_of(norm, divides(K)));
}
template <Kind K>
V some_axes(Lower& on, V x, Opt<Dims> sizes, Opt<Ints> dims, Opt<Str> norm) {
  Ints axes = dims ? on.axes(x, *dims) : on.all_axes(x);
  if (!dims && sizes) axes.erase(axes.begin(), axes.end() - static_cast<std::ptrdiff_t>(sizes->size()));
  return transform(on, x, K, axes, sizes, scale_of(norm, divides(K)));
}

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
                  bool normalized, Opt<bool>, Opt<int64_t> length, bool as_complex) {
  if (as_complex) unsupported("istft with a complex result");
  const bool single = on.rank(z) == 2;
  if (single) z = on.unsqueeze(z, {0});
  const int64_t step = hop.value_or(n / 4);
  V frames = mirrored(on, z, 1, Dim(n));  // of all frequencies too, torch takes one half
  if (normalized) frames = on.Mul(frames, on.number_like(std::sqrt(static_cast<double>(n)), frames));
  const V w = on.unsqueeze(wide_window(on, window, width.value_or(n), n, on.dtype(frames)), {1});
  const V places = on.unsqueeze(on.EyeLike(on.full({Dim(n), Dim(n)}, Num(0.0), on.dtype(frames)),
                                           {.dtype = static_cast<int64_t>(on.dtype(frames))}),
                                {1});
  const auto overlapped = [&](V x) { return V(on.ConvTranspose(x, places, {}, {.strides = Ints{step}})); };
  const V squares = on.expand(on.unsqueeze(on.Mul(w, w), {0}), {Dim(1), Dim(n), on.dim(frames, 2)});
  V y = overlapped(on.Mul(frames, w)), sums = overlapped(squares);
  const Dim total = (on.dim(frames, 2) - Dim(1)) * Dim(step) + Dim(n), start(center ? n / 2 : 0);
  const Dim end =
      length ? min(start + Dim(*length), total) : total - Dim(center ? n / 2 : 1);  // torch leaves the last sample out
  const auto cut = [&](V x) { return on.squeeze(on.slice(x, 2, start, end), {1}); };
  y = on.Div(cut(y), cut(sums));
  if (length) y = resized(on, y, 1, Dim(*length));
  return single ? on.squeeze(y, {0}) : y;
}

// The frequencies of a transform of n samples, d apart: 0, 1, ... and then the negative ones, or only the first half.
V frequencies(Lower& on, Dim n, const Num& d, const Opt<DType>& t, bool half) {
  const DType out = t.value_or(default_float);
  const V all = iota(on, half ? floor_div(n, Dim(2)) + Dim(1) : n), turned = on.Sub(all, on.int_scalar(n));
  const V at = half ? all : V(on.Where(on.Less(all, on.int_scalar(ceil_div(n, Dim(2)))), all, turned));
  return on.to(on.Div(on.to(at, DType::f64), on.Mul(on.to(on.int_scalar(n), DType::f64), on.scalar(d, DType::f64))),
               out);
}

constexpr Row table[] = {
    {"aten::fft_fftfreq", [](Lower& on, Dim n, Num d, Opt<DType> t) { return frequencies(on, n, d, t, false); }},
    {"aten::fft_rfftfreq", [](Lower& on, Dim n, Num d, Opt<DType> t) { return frequencies(on, n, d, t, true); }},
    {"aten::fft_fft", fn<one_axis<Kind::to_complex>>},
    {"aten::fft_ifft", fn<one_axis<Kind::inverse>>},
    {"aten::fft_fft2", fn<some_axes<Kind::to_complex>>},
    {"aten::fft_ifft2", fn<some_axes<Kind::inverse>>},
    {"aten::fft_fftn", fn<some_axes<Kind::to_complex>>},
    {"aten::fft_ifftn", fn<some_axes<Kind::inverse>>},
    {"aten::fft_rfft", fn<one_axis<Kind::half>>},
    {"aten::fft_ihfft", fn<one_axis<Kind::half_inverse>>},
    {"aten::fft_rfft2", fn<some_axes<Kind::half>>},
    {"aten::fft_ihfft2", fn<some_axes<Kind::half_inverse>>},
    {"aten::fft_rfftn", fn<some_axes<Kind::half>>},
    {"aten::fft_ihfftn", fn<some_axes<Kind::half_inverse>>},
    {"aten::fft_irfft", fn<one_axis<Kind::to_real>>},
    {"aten::fft_hfft", fn<one_axis<Kind::to_real_hermitian>>},
    {"aten::fft_irfft2", fn<some_axes<Kind::to_real>>},
    {"aten::fft_hfft2", fn<some_axes<Kind::to_real_hermitian>>},
    {"aten::fft_irfftn", fn<some_axes<Kind::to_real>>},
    {"aten::fft_hfftn", fn<some_axes<Kind::to_real_hermitian>>},
    {"aten::_fft_c2c",
     [](Lower& on, V x, Ints dims, int64_t scale, bool forward) {
       return transform(on, x, forward ? Kind::to_complex : Kind::inverse, on.axes(x, dims), {},
                        static_cast<Scale>(scale));
     }},
    {"aten::_fft_r2c",
     [](Lower& on, V x, Ints dims, int64_t scale, bool onesided) {
       return transform(on, x, onesided ? Kind::half : Kind::to_complex, on.axes(x, dims), {},
                        static_cast<Scale>(scale));
     }},
    {"aten::_fft_c2r",
     [](Lower& on, V x, Ints dims, int64_t scale, Dim last) {
       if (dims.empty()) unsupported("a Fourier transform over no axis");
       Dims sizes(dims.size(), Dim(-1));
       sizes.back() = last;
       return transform(on, x, Kind::to_real, on.axes(x, dims), sizes, static_cast<Scale>(scale));
     }},
    {"aten::stft", fn<short_time>},
    {"aten::istft", fn<from_short_time>},
    {"aten::stft.center",
     [](Lower& on, V x, int64_t n, Opt<int64_t> hop, Opt<int64_t> width, Opt<V> window, bool center, Str mode,
        bool normalized, Opt<bool> onesided, Opt<bool> as_complex) {
       if (center) {
         const V pads = on.ints({n / 2, n / 2}), last = on.ints({on.rank(x) - 1});
         x = on.Pad(x, pads, {}, last, {.mode = mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : mode});
       }
       return short_time(on, x, n, hop, width, window, normalized, onesided, as_complex);
     }},
};

}  // namespace

std::span<const Row> fourier_rows() { return table; }

}  // namespace cameo::lowering
