// What is done to a graph before it is planned: the target set "engine" of src/passes, between two gates.
#pragma once

#include "engine/checked_nodes.h"
#include "ir/graph.h"

namespace cameo::engine {

// Once per session, whatever the sizes: f16 in f32, products of integers, constants, batch normalisation.
void prepare_once(Graph& g, bool onednn);
// Per sizes, once the nodes were checked with them: operators that are written as several nodes become one.
void fuse_operators(Graph& g, CheckedNodes& nodes, bool onednn);

}  // namespace cameo::engine
