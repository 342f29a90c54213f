// Dead code: nodes whose results nobody uses, initializers nobody reads.
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

// Returns how many nodes went. Inputs and outputs of the graph stay.
size_t remove_dead_code(Graph& graph);

}  // namespace cameo::passes
