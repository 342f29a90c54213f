// Lowerings that others wrote (include/cameo/lowering.h), as staging calls them.
#pragma once

#include <memory>

#include "staging/machine/lent.h"

#include "api/state.h"
#include "cameo/lowering.h"

namespace cameo {

std::shared_ptr<const staging::HostLowerings> host_lowerings(const Lowerings& all);

}  // namespace cameo
