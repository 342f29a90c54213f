// Complex numbers: made of reals, taken apart, seen as pairs.
#include "lowering/complex.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

bool complex(Lower& on, V x) { return is_complex(on.dtype(x)); }

V from_parts(Lower& on, V re, V im) {
  const Dims shape = broadcast_shapes(on.shape(re), on.shape(im));
  return complex_of_parts(on, {on.expand(re, shape), on.expand(im, shape)});
}
V polar(Lower& on, V size, V angle) { return from_parts(on, on.Mul(size, on.Cos(angle)), on.Mul(size, on.Sin(angle))); }
V conj(Lower& on, V x) { return complex(on, x) ? conjugate(on, x) : x; }
V same(Lower&, V x) { return x; }
V real(Lower& on, V x) { return parts_of(on, x).re; }
V imag(Lower& on, V x) {
  if (!complex(on, x)) unsupported("the imaginary part of a real tensor");
  return imaginary_of(on, parts_of(on, x));
}

V direction(Lower& on, V x) {
  if (complex(on, x)) {
    const V size = on.Abs(x);
    return on.Div(x,
                  on.to(on.Where(on.Equal(size, on.number_like(0, size)), on.number_like(1, size), size), on.dtype(x)));
  }
  return on.is_bool(x) ? x : V(on.Sign(x));
}

constexpr Row table[] = {
    {"aten::complex", fn<from_parts>},
    {"aten::polar", fn<polar>},
    {"aten::view_as_complex", fn<complex_of_pair>},
    {"aten::view_as_complex_copy", fn<complex_of_pair>},
    {"aten::view_as_real", fn<pair_of>},
    {"aten::view_as_real_copy", fn<pair_of>},
    {"aten::real", fn<real>},
    {"aten::imag", fn<imag>},
    {"aten::sgn", fn<direction>},
    {"aten::conj", fn<conj>},
    {"aten::_conj", fn<conj>},
    {"aten::conj_physical", fn<conj>},
    {"aten::_conj_physical", fn<conj>},
    {"aten::resolve_conj", fn<same>},
    {"aten::resolve_neg", fn<same>},
};

}  // namespace

std::span<const Row> complex_rows() { return table; }

}  // namespace cameo::lowering
