// linger's operators as QuantizeLinear, DequantizeLinear and ONNX's operators between them.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "support/error.h"

namespace cameo::passes {

struct LingerToQdq {
  size_t nodes = 0;  // of linger that were replaced
  std::vector<Diag> notes;
};

// QuantizeLinear rounds halves to even, linger up: each result differs by at most one step. `exact` rounds by
// Floor(x * scale + 0.5) instead, which engines do not fuse. Precondition: types are inferred.
// `opset`: of the file that will be written. Throws convert.linger where a node cannot be expressed.
LingerToQdq linger_to_qdq(Model& m, bool exact, int64_t opset);

}  // namespace cameo::passes
