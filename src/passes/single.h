// Single precision: every f64 value of a model in f32, inputs and outputs included.
#pragma once

#include "ir/graph.h"

namespace cameo::passes {

// How many values changed. Numbers beyond the range of f32 become its largest. Calls of local functions are inlined.
// Throws convert.float where an operator of another domain reads or gives f64, whose types are not known.
size_t to_single(Model& m);

}  // namespace cameo::passes
