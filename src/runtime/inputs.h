// What a model wants to be given: judging inputs before a run, and making some up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "kernels/datum.h"

namespace cameo::runtime {

// The main graph's inputs that have no default, or every one.
std::vector<ValueId> run_inputs(const Graph& g, bool with_defaults = true);

// Throws run.input-missing, run.dtype, run.rank and run.size, all findings at once: which input, which axis, what came
// and what the model wants. Equal names must have equal sizes.
void check_inputs(const Graph& g, const std::vector<ValueId>& params, const std::vector<Datum>& inputs);

// The same seed gives the same values on every machine: floats in [0, 1), small ints, in order of the inputs. Symbolic
// sizes are taken from `given` by name, else they are free_sizes; `taken` tells which they were.
std::vector<Datum> random_inputs(const Graph& g, const std::vector<ValueId>& params, uint64_t seed,
                                 const std::map<std::string, int64_t>& given = {},
                                 std::map<std::string, int64_t>* taken = nullptr);

}  // namespace cameo::runtime
