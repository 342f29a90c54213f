// Factors of matrices that other chapters take.
#pragma once

#include <tuple>

#include "lowering/lower.h"

namespace cameo::lowering {

std::tuple<V, V, V> lu_unpacked(Lower& on, V lu, V pivots, bool data,
                                bool places);  // P, L, U; empty tensors for what is not asked for
// The product of the reflections, its first columns.
V householder_product(Lower& on, V vectors, V taus, int64_t columns);

}  // namespace cameo::lowering
