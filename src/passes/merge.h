// Two models into one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

struct MergeOptions {
  std::vector<std::pair<std::string, std::string>> connect;  // an output of the first, an input of the second
  bool keep_connected = false;                               // connected outputs of the first stay outputs
};

// `a` gains the nodes of `b`. Names of `b` that are taken get a number; sizes of the same name are the same size where
// the models are connected, and are kept apart by a new name elsewhere. The newer opset of each domain holds for both.
// Throws edit.merge: names that do not exist, types that do not go together, functions of one name that differ.
void merge(Model& a, const Model& b, const MergeOptions& options);

}  // namespace cameo::passes
