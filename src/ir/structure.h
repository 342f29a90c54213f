// Whether two models compute the same in the same way: operators, attributes, edges, constants and types. Unlike
// equal.h, names of inner values, versions and the order of independent nodes and of initializers do not matter.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"

namespace cameo::ir {

struct StructureOptions {
  bool types = true;            // of all values that have a name or a use
  bool interface_names = true;  // of the main graph's inputs and outputs
  bool notes = false;           // names of nodes and graphs, doc strings, metadata, producer, versions
};

// The first difference in words ("Relu -> 'y': operand 0 differs"), or nothing. Unknown sizes (fresh symbols)
// correspond one to one; named ones must have the same name. Graphs with dims of different contexts compare.
std::optional<std::string> structural_difference(const Model& a, const Model& b, const StructureOptions& options = {});
inline bool same_structure(const Model& a, const Model& b, const StructureOptions& options = {}) {
  return !structural_difference(a, b, options);
}

}  // namespace cameo::ir
