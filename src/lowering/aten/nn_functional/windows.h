// Numbers per axis of a window.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

Ints doubled(const Ints& v);     // the same numbers before and after: ONNX's pads
Ints spread(Ints v, int64_t n);  // one number for all n axes, or n of them

}  // namespace cameo::lowering
