// The end of an export, whatever was staged: outputs by name, what was missing, what was frozen.
#pragma once

#include "staging/export.h"

namespace cameo::staging {

struct Output {
  std::string name;
  V value;
};

// Nested outputs are flattened with readable names; what is not a tensor is dropped with a note.
void flatten_outputs(Stager& s, const Value& v, const std::string& path, std::vector<Output>& out, DiagSink& sink);
// Throws use.output-names and use.dynamic-axes; names of axes that are not taken are noted.
void set_outputs(Stager& s, std::vector<Output> outputs, const ExportOptions& options, DiagSink& sink);
// One Error with every operator that has no lowering.
[[noreturn]] void throw_missing(const std::map<std::string, Missing>& missing);
// A declared dynamic dim that the program pins to a number would silently give a model for only that size.
// The stager tells the user's own line.
void report_frozen(const Graph& g, const ExportOptions& options, DiagSink& sink, const Stager* s = nullptr);

}  // namespace cameo::staging
