// Whole numbers that a float holds already stay in it.
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

// Where a float was rounded and clipped to the range of a type of 8 or 16 bits, cast to it, only moved, and cast back,
// it stays f32 all the way. Types have to be inferred. Gives how many values changed.
size_t keep_whole_floats(Model& m);

}  // namespace cameo::passes
