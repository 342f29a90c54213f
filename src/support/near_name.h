// Suggestions for misspelt names.
#pragma once

#include <span>
#include <string_view>

#include "support/layers.h"

namespace cameo::support {

// The nearest of some names, for "did you mean"; empty where none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

}  // namespace cameo::support
