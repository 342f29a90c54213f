// What an export leaves for saving and verifying its result.
#pragma once

#include "runtime/arrays.h"

#include "api/state.h"
#include "cameo/export.h"

namespace cameo {

struct ExportState {
  std::vector<runtime::NamedDatum> examples;  // what `example_inputs` held
  std::vector<std::string> input_names;       // per graph input: the example it was given by, or empty
  bool has_foreign = false;                   // nodes whose result types are not known
};

}  // namespace cameo
