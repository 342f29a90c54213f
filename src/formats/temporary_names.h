// Names of files that are not complete yet, and the removal of those whose writers have ended.
#pragma once

#include <string>

#include "support/layers.h"

namespace cameo::formats {

// A fresh name beside `target`: target.cameo-<16 hex digits>.tmp
std::string temporary_name(const std::string& target);

// Removes the files with such names in `folder` (empty: the current one) that are not locked: their writers have
// ended. Files that cannot be locked or examined stay.
void remove_dead_temporaries(const std::string& folder);

}  // namespace cameo::formats
