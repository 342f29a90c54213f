// Sorted values that other chapters take.
#pragma once

#include <tuple>

#include "lowering/lower.h"

namespace cameo::lowering {

std::tuple<V, V> smallest(Lower& on, V x, Dim k, int64_t axis);  // the k smallest in order, and their places
V ascending(Lower& on, V x, int64_t axis);
std::tuple<V, V> kth_value(Lower& on, V x, Dim k, int64_t dim, bool keepdim);

}  // namespace cameo::lowering
