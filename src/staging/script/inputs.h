// The arguments of the method that is exported: graph inputs, and values that the user or the archive fixes.
#pragma once

#include "staging/export.h"
#include "staging/script/interpreter.h"

namespace cameo::staging {

// Makes one staged value per argument, and the graph's inputs on the way. Throws use.input and use.input-missing.
std::vector<Value> stage_inputs(ScriptInterpreter& script, const ExportOptions& options, const ts::FunctionDef& method,
                                DiagSink& sink, ExportTrace* trace);

}  // namespace cameo::staging
