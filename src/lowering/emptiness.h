// Sizes that may be 0, where that asks for another form: ONNX's operators are not defined for everything that PyTorch
// is.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

// A size that is declared with 0 (n:0..64), that data decide (x[mask]), or that is computed from others (x[1:]) and not
// proved to be positive. The other named sizes are taken to be at least 1.
bool may_be_empty(const Lower& on, Dim size);

// After a node: PyTorch raises where a convolution, a pool or a resized picture would have no element on an axis.
void assume_windows(const Lower& on, const OpDef& op, ValueId result);

}  // namespace cameo::lowering
