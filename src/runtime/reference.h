// Runs a graph with the reference kernels, node by node: slow, plain, and the measure for everything fast.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "kernels/datum.h"
#include "ops/custom.h"

namespace cameo::runtime {

struct ReferenceOptions {
  uint64_t seed = 0;  // for random operators that carry none
  CustomOps kernels;  // of the program around us
  // Called with every value computed in the main graph, for intermediate outputs.
  std::function<void(ValueId, const Datum&)> observe;
};

// `inputs` are the main graph's inputs in order; one that is absent (Kind::none) takes its initializer's value.
// Throws "eval.*" with the node's place.
std::vector<Datum> run_reference(const Model& model, std::span<const Datum> inputs,
                                 const ReferenceOptions& options = {});

}  // namespace cameo::runtime
