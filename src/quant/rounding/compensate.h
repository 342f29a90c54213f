// Weights rounded so that what one rounding adds to the results is made up for by others of the same output.
#pragma once

#include "quant/insert/weights.h"
#include "quant/rounding/patches.h"

namespace cameo::quant {

// With the scales of `nearest`. The last quarter of the rows judges: an output whose results get no better keeps its
// nearest levels.
QuantizedWeight compensated(const Graph& g, const Product& p, std::span<const float> weights,
                            const QuantizedWeight& nearest, const Patches& rows, const Grid& grid,
                            const ChannelMoments* inputs, int threads);

}  // namespace cameo::quant
