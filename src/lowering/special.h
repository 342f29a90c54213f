// Special functions that other lowerings use.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

V log_gamma(Lower& on, V x);

}  // namespace cameo::lowering
