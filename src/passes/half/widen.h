// Models in half precision as models in f32.
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

// Every f16 and bf16 value becomes f32, in bodies too. Inputs and outputs of the model
// keep their types, with casts behind and before them. Returns how many values changed. Throws convert.float where an
// operator gives half precision whatever it reads.
size_t widen_halves(Graph& g);

}  // namespace cameo::passes
