// The public Kernels as the engine takes them.
#pragma once

#include <vector>

#include "ops/custom.h"

#include "cameo/kernel.h"

namespace cameo::api {

// Throws use.kernel for a name that is none, two kernels of one name, one without a function, and operators with
// bodies.
ops::CustomOps custom_ops(const std::vector<Kernel>& kernels);

}  // namespace cameo::api
