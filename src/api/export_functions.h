// Modules of the archive that become ONNX functions.
#pragma once

#include <vector>

#include "api/export_archive.h"
#include "passes/outline.h"

namespace cameo::api {

std::vector<OutlinedModule> modules_of(const torchscript::Program& program);
std::vector<OutlinedModule> modules_of(const pt2::Program& program);  // those that calls came from

// Those that how.functions names become functions of the model, which is legalised for the opset first. Throws
// use.modules for a class that no module has, use.opset before opset 15, and what that opset cannot express.
void make_functions(std::vector<OutlinedModule> modules, Model& m, const ArchiveExport& how, DiagSink& sink);

}  // namespace cameo::api
