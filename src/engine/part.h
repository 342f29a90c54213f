// A body as a graph of its own: planning it costs what the body is, not what the model around it is.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/plan.h"

namespace cameo::engine {

struct Part {
  std::shared_ptr<Graph> graph;  // over the same dims; the body's nodes are the main graph's
  std::vector<NodeId> nodes;
  std::vector<ValueId> inputs, outputs;  // what the given inputs and the body's outputs are here
  BaseValues base;
};

// `inputs`: the body's own, in order, then what it reads from around. Constants from around come by themselves.
// `empty`: a graph over the same dims without anything in it.
Part cut_body(const Graph& g, const BaseValues& base, RegionId body, std::span<const ValueId> inputs,
              const Graph& empty);

}  // namespace cameo::engine
