// Forms over matrices in the last two axes.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

V no_fault(Lower& on, V a);  // LAPACK's info: 0 for each matrix
V swap_last(Lower& on, V x);
V eye(Lower& on, Dim rows, Dim columns, DType t);
Dims without_last(const Dims& s, size_t n);
V identity(Lower& on, V like);  // of like's shape
// Gauss and Jordan, the largest pivot of each column first: a x = b for all columns of b at once.
V solved(Lower& on, V a, V b);
V inverted(Lower& on, V a);                 // the size of a is known and small
V from_factor(Lower& on, V l, bool upper);  // the matrix of a Cholesky factor

}  // namespace cameo::lowering
