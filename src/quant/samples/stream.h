// Samples from standard input.
#pragma once

#include "quant/quantize.h"

namespace cameo::quant {

// .npy arrays one after another, one for each input of the model in turn; or one .npz.
Samples stream_samples(const Graph& g);

}  // namespace cameo::quant
