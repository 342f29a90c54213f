// torch.fft: transforms, frequencies, shifts.
#include "lowering/aten/fft/dft.h"
#include "lowering/axes.h"
#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

enum class Kind : uint8_t { to_complex, inverse, half, half_inverse, to_real, to_real_hermitian };

enum class Scale : uint8_t { none, root, all };  // torch's numbers for what a transform divides by

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
    if (!real || i + 1 != axes.size()) x = resized_axis(on, x, axes[i], goal.back());
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

// The frequencies of a transform of n samples, d apart: 0, 1, ... and then the negative ones, or only the first half.
V frequencies(Lower& on, Dim n, const Num& d, const Opt<DType>& t, bool half) {
  const DType out = t.value_or(default_float);
  const V all = iota(on, half ? floor_div(n, Dim(2)) + Dim(1) : n), turned = on.Sub(all, on.int_scalar(n));
  const V at = half ? all : V(on.Where(on.Less(all, on.int_scalar(ceil_div(n, Dim(2)))), all, turned));
  return on.to(on.Div(on.to(at, DType::f64), on.Mul(on.to(on.int_scalar(n), DType::f64), on.scalar(d, DType::f64))),
               out);
}

V half_rolled(Lower& on, V x, const Opt<Ints>& dims, bool back) {
  const Ints axes = dims ? on.axes(x, *dims) : on.all_axes(x);
  Dims shifts;
  for (const int64_t a : axes)
    shifts.push_back(back ? ceil_div(on.dim(x, a), Dim(2)) : floor_div(on.dim(x, a), Dim(2)));
  return axes.empty() ? x : roll(on, x, shifts, axes);
}

constexpr Row table[] = {
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
    {"aten::fft_fftfreq", [](Lower& on, Dim n, Num d, Opt<DType> t) { return frequencies(on, n, d, t, false); }},
    {"aten::fft_rfftfreq", [](Lower& on, Dim n, Num d, Opt<DType> t) { return frequencies(on, n, d, t, true); }},
    {"aten::fft_fftshift", [](Lower& on, V x, Opt<Ints> dims) { return half_rolled(on, x, dims, false); }},
    {"aten::fft_ifftshift", [](Lower& on, V x, Opt<Ints> dims) { return half_rolled(on, x, dims, true); }},
};

}  // namespace

std::span<const Row> fft_transforms_rows() { return table; }

}  // namespace cameo::lowering
