// Values whose far ends make no difference to what reads them.
#pragma once

#include "ir/graph.h"
#include "quant/calibrate/range.h"

namespace cameo::quant {

// The range outside of which every reader of the value gives the same as at its ends, nearly: HardSwish below -3,
// Sigmoid beyond 8, also where they are spelt out. Infinite where that is not known.
Range useful_range(const Graph& g, ValueId v);

// What a value may be on samples that were not seen, where that is known and decides outputs: a score is between 0 and
// 1, and what its Sigmoid reads may be on either side of 0, whatever some samples show. {0, 0} of other values.
Range decisive_range(const Graph& g, ValueId v);

}  // namespace cameo::quant
