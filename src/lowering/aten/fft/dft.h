// Fourier transforms along one axis: DFT over pairs of reals; sums with cosines and sines where the result is real and
// small.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

V as_floats(Lower& on, V x);  // ints become the default float type
// Cut or filled with zeros to size n.
V resized_axis(Lower& on, V x, int64_t axis, Dim n);
V pair_or_single(Lower& on, V x);  // what DFT and STFT take: a last axis of 2 or of 1
V transformed(Lower& on, V x, int64_t axis, bool inverse, bool half);
// The axis holds one half of n; the other mirrors it. Divided by n.
V mirrored(Lower& on, V x, int64_t axis, Dim n);

}  // namespace cameo::lowering
