// The assumptions that a model relies on (docs/staging.md), compared with the sizes of a run.
#pragma once

#include <span>

#include "ir/graph.h"
#include "kernels/datum.h"

namespace cameo::runtime {

// Throws run.assumption. `params` are inputs of the main graph, with the value of each in `inputs`.
void check_assumptions(const Model& model, std::span<const ValueId> params, std::span<const Datum> inputs);

}  // namespace cameo::runtime
