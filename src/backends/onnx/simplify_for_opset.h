// Simplification for a file: what the target opset lacks is expanded in between, so that expansions are simplified too.
#pragma once

#include "passes/simplify.h"
#include "support/error.h"

namespace cameo::backends {

// Simplifies `m` for writing at `opset` of ai.onnx: rules, then what legalise.h has to expand, then rules again. Throws
// what that opset cannot express, but if it is the file's own opset, the file gets a later one; lossy expansions that
// were made go to `diags`.
SimplifyResult simplify_for_opset(Model& m, int64_t opset, const SimplifyOptions& options = {}, bool lossy = false,
                                  DiagSink* diags = nullptr);

}  // namespace cameo::backends
