// The order of a region's nodes in which printing and comparing walk them: it depends on what is computed, not on the
// order in which nodes were made.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace cameo::ir {

// Of one graph, which must stay as it is meanwhile. Everything is computed when first asked for.
class CanonicalOrder {
 public:
  explicit CanonicalOrder(const Graph& g) : g_(g) {}

  // Every living node of the region: what the outputs need, first output first, operands left to right, then what a
  // body captures; after that the nodes no output needs, in the region's order, each after what it needs.
  const std::vector<NodeId>& nodes(RegionId r);
  // The region's initializers by first use along those nodes and the outputs, then the unused ones as they are listed.
  std::vector<ValueId> initializers(RegionId r);
  // Values of regions around `body` that it or the bodies in it use, by first use, each once.
  const std::vector<ValueId>& captured(RegionId body);

 private:
  class Walk;
  const Graph& g_;
  std::unordered_map<RegionId, std::vector<NodeId>> nodes_;
  std::unordered_map<RegionId, std::vector<ValueId>> captured_;
};

}  // namespace cameo::ir
