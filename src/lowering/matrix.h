// Forms over matrices in the last two axes.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

V swap_last(Lower& on, V x);
Dims without_last(const Dims& s, size_t n);
V identity(Lower& on, V like);      // of like's shape
V singular_values(Lower& on, V a);  // descending; the size of a is known and small
V solved(Lower& on, V a, V b);      // a x = b for all columns of b; the size of a is known and small

}  // namespace cameo::lowering
