// Inputs beside the first ones, on which models that seem to agree may differ.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernels/datum.h"

namespace cameo::runtime {

struct Try {
  std::string how;  // "with the inputs negated", "with b = 1"
  std::vector<Datum> inputs;
};
// Fractions negated and 8 times as large, so that a choice by sign or by size falls otherwise; the sizes that are not
// given all at 1, where programs squeeze and broadcast, and all one more.
std::vector<Try> other_tries(const Graph& g, const std::vector<ValueId>& params, uint64_t seed,
                             const std::map<std::string, int64_t>& given);

}  // namespace cameo::runtime
