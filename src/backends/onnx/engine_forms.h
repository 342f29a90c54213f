// Forms that ONNX allows and an engine computes otherwise: the one list of what is written in another form instead.
// tests/python/test_engine_faults.py has a row for each, with the engine's version; it fails when the engine is fixed.
#pragma once

#include "ir/graph.h"

namespace cameo::backends {

// Rewrites such forms, wherever they came from; gives how many. A second time changes nothing.
size_t avoid_engine_faults(Model& m);

}  // namespace cameo::backends
