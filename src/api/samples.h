// Samples of the public API for the layers below.
#pragma once

#include "quant/quantize.h"

#include "cameo/quantize.h"

namespace cameo {

// Inputs by name, in the model's order. Both have to outlive what is returned.
quant::Samples positional(const ir::Graph& g, const SampleSource& source);

}  // namespace cameo
