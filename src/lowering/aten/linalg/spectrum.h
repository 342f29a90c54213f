// Eigenvalues of symmetric matrices and singular values, for matrices of known, small size: Jacobi's rotations in a
// Loop, in double. What they decide is unique: norms, ranks, pseudo-inverses, least squares. Vectors have no sign, so
// that eigh and svd themselves stay out.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

struct Spectrum {
  V values, vectors;  // in no order; double
};
Spectrum spectrum_of(Lower& on, V a);
V sorted_values(Lower& on, V values, bool descending);
V symmetric(Lower& on, V a, bool upper);  // one triangle, mirrored
V values_in_double(Lower& on, V a);       // singular values, in no order
V matrix_rank(Lower& on, V a, const Opt<V>& atol, const Opt<V>& rtol, bool hermitian = false);
Opt<V> staged_number(Lower& on, const Opt<double>& v);  // as a double in the graph
V pseudo_inverse(Lower& on, V a, const Opt<V>& atol, const Opt<V>& rtol, bool hermitian = false);
V singular_values(Lower& on, V a);  // descending; the size of a is known and small

}  // namespace cameo::lowering
