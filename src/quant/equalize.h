// Cross-layer equalization: channels between two products get ranges of one size, and the model computes the same.
#pragma once

#include <functional>

#include "quant/calibrate/calibration.h"

namespace cameo::quant {

// Between two products, with nothing or an activation in between that only scales (Relu, LeakyRelu, PRelu): output
// channel c of the first is divided by a factor, input channel c of the second multiplied with it. `moments` gives what
// the channels of a value were on some samples. Gives how many pairs were changed.
size_t equalize(Graph& g, const std::function<const ChannelMoments*(ValueId)>& moments);

}  // namespace cameo::quant
