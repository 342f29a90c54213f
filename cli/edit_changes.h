// The changes that flags of `cameo edit` ask for.
#pragma once

#include <string>
#include <string_view>

#include "cameo/edit.h"

namespace cameo::cli {

// Flags that are no change (--weights, ...) do nothing.
void apply_change(Editor& edit, std::string_view flag, const std::string& value);

}  // namespace cameo::cli
