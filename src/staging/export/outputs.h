// The end of an export, whatever was staged: outputs by name, what was missing, what was frozen.
#pragma once

#include "staging/export.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

struct Output {
  std::string name;
  V value;
};

// What every export begins with.
Model begun_model(std::string path);

// Nested outputs are flattened with readable names; what is not a tensor is dropped with a note.
void flatten_outputs(Machine& s, const Value& v, const std::string& path, std::vector<Output>& out, DiagSink& sink);
// Throws use.output-names and use.dynamic-axes; names of axes that are not taken are noted.
void set_outputs(Machine& s, std::vector<Output> outputs, const ExportOptions& options, DiagSink& sink);
// Weights that are inputs, known by their names, follow all others, in the order of `names`; unused ones are removed.
// The first `declared` inputs are none.
void order_weights(Graph& g, size_t declared, const std::vector<std::string>& names);
// One Error with every operator that has no lowering.
[[noreturn]] void throw_missing(const std::map<std::string, Missing>& missing);
// A declared dynamic dim that the program pins to a number would silently give a model for only that size.
void report_frozen(const Machine& s, const ExportOptions& options, DiagSink& sink);

}  // namespace cameo::staging
