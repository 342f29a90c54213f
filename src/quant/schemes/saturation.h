// Values whose far ends make no difference to what reads them.
#pragma once

#include "ir/graph.h"
#include "quant/calibrate/range.h"

namespace cameo::quant {

// The range outside of which every reader of the value gives the same as at its ends, nearly: HardSwish below -3,
// Sigmoid beyond 8, also where they are spelt out. Infinite where that is not known.
Range useful_range(const Graph& g, ValueId v);

}  // namespace cameo::quant
