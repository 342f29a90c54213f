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

}  // namespace cameo
