// How two models differ: operators, attributes and weights, matched from the outputs on; names do not count.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::passes {

struct Difference {
  std::string what;           // "axis of Concat 'cat1' is 1 in the first and 2 in the second"
  std::string first, second;  // a value's name in each model; empty if it is only in the other one
};

struct DiffOptions {
  size_t limit = 100;  // differences to report
};

std::vector<Difference> diff(const Model& a, const Model& b, const DiffOptions& options = {});

}  // namespace cameo::passes
