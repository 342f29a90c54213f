// Special functions that other lowerings use.
#pragma once

#include "lowering/lower.h"

namespace cameo::lowering {

// Lanczos above 1/2, the reflection below.
V log_gamma(Lower& on, V x);

}  // namespace cameo::lowering
