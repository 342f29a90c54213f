// Lowerings in Python: the graph that is being recorded, lent to a function for the time of one call.
#pragma once

#include "cameo/lowering.h"

#include "bindings.h"

namespace cameo::python {

// `function` is called with the graph, the operator's name, its arguments by place and by name, and whether it has a
// signature. It has to live as long as these lowerings.
Lowerings lowerings(nb::handle names, nb::handle function);

}  // namespace cameo::python
