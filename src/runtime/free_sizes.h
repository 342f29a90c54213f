// Sizes for the axes that a model leaves open, when its inputs are made up.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace cameo::runtime {

// By the text of the size ("batch"). What is given stays; the others are the smallest of a few usual sizes at which no
// node's shape rule objects, and 1 where there are none such. Empty where no size is open.
std::map<std::string, int64_t> free_sizes(const Graph& g, const std::vector<ValueId>& params,
                                          const std::map<std::string, int64_t>& given);

// The same with every size that is neither a batch nor channels at least `length`, where shape rules allow that:
// recurrences show what they do after some steps only.
std::map<std::string, int64_t> longer_sizes(const Graph& g, const std::vector<ValueId>& params,
                                            const std::map<std::string, int64_t>& sizes, int64_t length);

// The integer inputs that index axes of one element at these sizes, and so can be nothing but 0.
std::set<ValueId> zero_inputs(const Graph& g, const std::vector<ValueId>& params,
                              const std::map<std::string, int64_t>& sizes);

}  // namespace cameo::runtime
