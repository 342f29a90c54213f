// Random models over many operators, with a symbolic size, branches, and the forms that rewrite rules look for.
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "kernels/datum.h"

namespace cameo::tests {

// The same seed gives the same model, everywhere. Its inputs are float tensors whose sizes may be N. A smooth one has
// no steps, where a last digit decides: no rounding, no comparisons, no casts that drop digits.
Model random_model(uint32_t seed, bool smooth);
// Values for its inputs with N = n: signed, some large, some zero.
std::vector<Datum> random_values(const Model& m, uint32_t seed, int64_t n);

}  // namespace cameo::tests
