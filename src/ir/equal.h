// Whether two models are the same: same names, operators, attributes, types, weights, in the same order.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"

namespace cameo::ir {

struct EqualOptions {
  bool names = true;  // of values and nodes
  bool types = true;  // of all values; sizes without a name of their own equal each other
  bool notes = true;  // documentation, metadata, producer
};

// The first difference in words, or nothing.
std::optional<std::string> difference(const Model& a, const Model& b, const EqualOptions& options = {});
inline bool equal(const Model& a, const Model& b, const EqualOptions& options = {}) {
  return !difference(a, b, options);
}
// Of two regions, each with everything inside; values from outside them are compared by name.
std::optional<std::string> difference(const Graph& a, RegionId ra, const Graph& b, RegionId rb,
                                      const EqualOptions& options = {});

}  // namespace cameo::ir
