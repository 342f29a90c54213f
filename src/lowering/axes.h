// Axes: added, swapped, rolled; a tensor against itself one step further.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

struct Broadcast {
  V a, b;
};
V at_least_rank(Lower& on, V x, int64_t rank);  // axes of size 1 are added as torch.atleast_3d does
Vs all_at_least_rank(Lower& on, Vs parts, int64_t rank);
V swapped(Lower& on, V x, int64_t a, int64_t b);  // torch.swapdims; of a 0-d tensor: the tensor
V adjoint(Lower& on, V x);                        // the last two axes swapped, and the conjugate of complex numbers
V roll(Lower& on, V x, Dims shifts, Ints dims);
Broadcast broadcast_both(Lower& on, V a, V b);                // both expanded to their common shape
Ints axes_or_all(Lower& on, V x, const Opt<Ints>& dims);      // normalised; all axes where none are named
V trimmed(Lower& on, V x, int64_t axis, Dim from, Dim less);  // from:size-less of an axis
V differences(Lower& on, V x, int64_t axis);                  // of neighbours along an axis

}  // namespace cameo::lowering
