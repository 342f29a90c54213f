// Operators of other domains that quantised files are full of, written with ONNX's own so that they can be run.
#pragma once

#include "ir/graph.h"

namespace cameo::ops {

bool has_foreign(const Graph& g);  // whether spell_foreign would change something
// Replaces them in every region; outputs keep their names. Nodes with attributes that no row understands stay.
void spell_foreign(Graph& g);

}  // namespace cameo::ops
