// Nodes in messages: their names and places.
#pragma once

#include <string>

#include "ir/graph.h"
#include "support/error.h"

namespace cameo::ir {

std::string describe(const Graph& g, NodeId n);  // "Conv 'layer1.conv'", "Conv -> 'y'" or "Conv #7"
Loc place(const Graph& g, NodeId n);
void add_place(Error& e, const Graph& g, NodeId n);  // says which node it was, where the error does not

}  // namespace cameo::ir
