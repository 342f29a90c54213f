// Split into slices of 1 that are squeezed or reshaped, as Gather: for engines that do not take the first form.
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

// Gives how many Split nodes were replaced. Those whose results are read otherwise stay.
size_t split_to_gather(Model& m);

}  // namespace cameo::passes
