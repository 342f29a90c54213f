#include "lowering/aten/fft/dft.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/carrier.h"
#include "lowering/aten/special/series.h"
#include "lowering/complex.h"
#include "lowering/forms.h"

namespace cameo::lowering {

namespace {

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

}  // namespace

V as_floats(Lower& on, V x) { return on.is_float(x) || is_complex(on.dtype(x)) ? x : on.to(x, default_float); }

V resized_axis(Lower& on, V x, int64_t axis, Dim n) {
  const Dim own = on.dim(x, axis);
  if (on.provably(own, n)) return x;
  const DimFacts& facts = on.graph().facts;
  const bool less = facts.less_equal(n, own) == Answer::yes, more = facts.less_equal(own, n) == Answer::yes;
  const Dim kept = less ? n : more ? own : facts.simplify(min(own, n));
  const V part = on.slice(x, axis, Dim(0), kept);
  if (less) return part;
  Dims rest = on.shape(x);
  rest[static_cast<size_t>(axis)] = n - kept;
  return on.concat({part, on.full(rest, Num(0.0), on.dtype(x))}, axis);
}

V pair_or_single(Lower& on, V x) { return is_complex(on.dtype(x)) ? pair_of(on, x) : on.unsqueeze(x, {on.rank(x)}); }

V transformed(Lower& on, V x, int64_t axis, bool inverse, bool half) {
  const V signal = pair_or_single(on, x);
  return complex_of_pair(on, on.DFT(signal, {}, on.On::int_scalar(axis), {.inverse = inverse, .onesided = half}));
}

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
  x = resized_axis(on, x, axis, half);
  const V inner = on.slice(x, axis, Dim(1), Dim(1) + (n - half));
  const V back = on.Slice(inner, on.ints({-1}), on.ints({INT64_MIN + 1}), on.ints({axis}), on.ints({-1}));
  on.graph().fact(back).type.shape = on.shape(inner);
  const V whole = on.concat({x, is_complex(on.dtype(x)) ? conjugate(on, back) : back}, axis);
  return parts_of(on, transformed(on, whole, axis, true, false)).re;
}

}  // namespace cameo::lowering
