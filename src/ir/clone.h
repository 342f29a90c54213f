// Copies of regions inside one graph: bodies of local functions at their calls, branches, loop bodies.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace cameo::ir {

struct CloneOptions {
  // References to attributes of the enclosing function take these values; one that is not among them makes the
  // attribute absent. Null: references stay references.
  const NamedAttrs* bindings = nullptr;
  std::string prefix;      // in front of the names of nodes and values
  bool keep_names = true;  // false: copies have no names
};

// Copies the nodes and initializers of `from` into region `into` of `g` (appended, or before `before`), with `inputs`
// in place of the region's inputs; returns what its outputs became. Facts come along, origins do not. Precondition: as
// many inputs as `from` has; a none stands for an absent one. `source` is `g` itself, or another graph over the same
// dims, whose body captures nothing.
std::vector<ValueId> clone_body(const Graph& source, RegionId from, Graph& g, std::span<const ValueId> inputs,
                                RegionId into, NodeId before = {}, const CloneOptions& options = {});
// A copy of a whole region, inputs included. `owner` may be none.
RegionId clone_region(Graph& g, RegionId from, RegionId parent, NodeId owner = {}, const CloneOptions& options = {});

// Which function a node calls: made once for many nodes. The functions must not move while it lives.
class FunctionTable {
 public:
  explicit FunctionTable(std::span<const LocalFunction> functions);
  const LocalFunction* called_by(const Node& n) const;  // null where it calls none

 private:
  std::unordered_map<std::string, const LocalFunction*> all_;
};
// What the function's attributes are in a call: as given, or their defaults.
NamedAttrs call_bindings(const Node& call, const LocalFunction& f);

}  // namespace cameo::ir
