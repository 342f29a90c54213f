// What is done to a graph before it is planned.
#pragma once

#include <span>

#include "ir/graph.h"

namespace cameo::engine {

// Once per session, whatever the sizes: nodes on constants become initializers, batch norms go into convolutions.
void prepare_once(Graph& g);
// Per sizes: operators that several nodes spell out (Gelu, Swish, attention, global pooling) become one node.
void gather_operators(Graph& g, bool attention);
bool gather_attention(Graph& g, NodeId product);  // the MatMul with the values

}  // namespace cameo::engine
