// Positions as index tensors.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

Vs nonzero_positions(Lower& on, V mask);  // one index tensor per axis
V strided_positions(Lower& on, const Dims& sizes, const Dims& strides,
                    Dim offset);  // of the elements that as_strided takes from the flat tensor
V flat_put(Lower& on, V x, V at, V values,
           const Str& how);  // writes into the flat tensor; `how` is a reduction of ScatterND

}  // namespace cameo::lowering
