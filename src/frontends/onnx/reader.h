// Models from .onnx files: mapped, taken apart without copies, every node in the canonical encoding.
#pragma once

#include <string>

#include "ir/graph.h"
#include "support/error.h"

namespace cameo::frontends {

// Warnings go to `diags`. Throws file.* when the bytes are not a whole ONNX model, and one Error with every model.*
// finding when names, attributes or versions make no sense.
Model read_onnx(const std::string& path, DiagSink& diags);
// The same from memory; `path` names the model in messages and says where its external data lie ("": nowhere).
Model read_onnx(Bytes bytes, const std::string& path, DiagSink& diags);

}  // namespace cameo::frontends
