// Epsilons of norms that are written out, so that ONNX Runtime keeps them.
#pragma once

#include <span>

#include "quant/half/rules.h"

namespace cameo::quant {

// ONNX Runtime makes one operator of a norm that is written with Add and Sqrt, and takes 1e-5 for an epsilon that is
// not f32. Less a negative number the sum is the same, and the norm is left as it is. `units` have their forms.
void spell_epsilons(Graph& g, std::span<const Unit> units);

}  // namespace cameo::quant
