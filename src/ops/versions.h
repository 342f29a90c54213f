// Versions of operator sets.
#pragma once

#include <cstdint>
#include <string_view>

#include "support/layers.h"

namespace cameo::ops {

// The newest version of a domain that Cameo has schemas for; 0 for domains it does not know.
int64_t newest_version(std::string_view domain);

}  // namespace cameo::ops
