// What a model is made of: operators, weights, work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

struct OpCount {
  std::string name;  // "Conv", "com.acme::Fancy"
  size_t count = 0;
};

struct Statistics {
  size_t nodes = 0;                // bodies and functions included, each counted once
  std::vector<OpCount> operators;  // most frequent first, then by name
  size_t weights = 0;
  uint64_t parameters = 0, weight_bytes = 0;
  Dim macs;                 // multiply-accumulates of convolutions, matrix products and recurrent layers, also in calls
  size_t macs_unknown = 0;  // such nodes whose shapes are not known
  std::vector<std::string> dims;  // names of sizes in inputs and outputs, in order of appearance
  // The most bytes of values alive at once in the main graph, run in order, with every named size 1.
  std::optional<uint64_t> peak_activation_bytes;
};

// Shapes should have been inferred.
Statistics statistics(const Model& m);

}  // namespace cameo::passes
