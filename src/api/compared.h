// Outputs of a model against those that are wanted.
#pragma once

#include "ir/graph.h"
#include "kernels/datum.h"
#include "runtime/compare.h"

#include "cameo/verify.h"

namespace cameo {

// What is not among `wanted`, or is nothing there, is left out.
Verified compared(const ir::Model& m, const std::vector<kernels::Datum>& got, const std::vector<kernels::Datum>& wanted,
                  const runtime::Tolerance& tolerance);

// Throws use.dim for a name that no axis of an input has.
void need_sizes(const ir::Graph& g, const std::map<std::string, int64_t>& sizes);

}  // namespace cameo
