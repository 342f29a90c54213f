// Names of files that are not complete yet, and what becomes of those whose writers are dead.
#pragma once

#include <string>

#include "support/layers.h"

namespace cameo::formats {

// A fresh name beside `target`: target.cameo-<16 hex digits>.tmp
std::string temporary_name(const std::string& target);

// Removes the files of such names in `folder` (empty: the current one) that nobody holds a lock on: their writers are
// dead. Files that cannot be locked or looked at stay.
void remove_dead_temporaries(const std::string& folder);

}  // namespace cameo::formats
