// A part of a model as a model.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

// Leaves what is needed to compute `to` from `from`; either may be empty: the model's own inputs or outputs.
// Throws edit.extract, naming each input of the model that is needed and not among `from`.
void extract(Model& m, const std::vector<std::string>& from, const std::vector<std::string>& to);

}  // namespace cameo::passes
