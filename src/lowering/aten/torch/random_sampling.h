// Random numbers that other chapters take.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

V coin(Lower& on, V p, DType t);  // 1 with probability p

}  // namespace cameo::lowering
