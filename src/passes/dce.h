// Dead code: nodes whose results are not used, initializers that are not read.
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

// Returns how many nodes went. Inputs and outputs of the graph stay.
size_t remove_dead_code(Graph& graph);

}  // namespace cameo::passes
