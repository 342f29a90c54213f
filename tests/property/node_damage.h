// Valid calls of operators, and ways to damage them: sizes, ranks, contents, element types, arities, attributes,
// bodies.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernels/datum.h"
#include "property/sampler.h"

namespace cameo::tests {

struct Call {
  std::string name;  // of the case that it comes from
  Model model;
  std::vector<Datum> inputs;  // of the main graph
};

// Calls by the operator whose name is the key: ONNX's node cases below `folder` (none when that is empty), and a few
// models in text for the operators that have no case there.
std::vector<std::pair<std::string, Call>> valid_calls(const std::string& folder);

// Damages one of the nodes called `op`, or what it is given.
void damage(Call& call, std::string_view op, Sampler& s);
// The inputs' declared types say what the inputs are, and no other value has one. With `open` every size is a symbol.
void declare_inputs(Call& call, bool open);
// Some of the inputs that are tensors become initializers.
void freeze_some_inputs(Call& call, Sampler& s);
std::string describe(const Call& call);

}  // namespace cameo::tests
