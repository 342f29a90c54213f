// What all elements of a value are, where that follows from how it is made: zeros gathered from zeros, positions that
// are never negative.
#pragma once

#include <optional>

#include "passes/rule.h"

namespace cameo::passes {

// The number that all elements are (1 and 0 for true and false), also when they were picked, moved, compared or chosen.
std::optional<double> everywhere(const Rewrite& rw, ValueId v);

}  // namespace cameo::passes
