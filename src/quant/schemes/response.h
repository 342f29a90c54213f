// What the readers of a value make of it, where that depends on nothing else: x * sigmoid(x), HardSwish, Clip.
#pragma once

#include "ir/graph.h"
#include "quant/calibrate/curve.h"
#include "quant/calibrate/range.h"

namespace cameo::quant {

// Over the range; without points where the readers are no such function.
Curve response(const Graph& g, ValueId v, const Range& over);

}  // namespace cameo::quant
