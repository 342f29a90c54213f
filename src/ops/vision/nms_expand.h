// NonMaxSuppression as a loop that picks the best box left of every batch and class at once.
#pragma once

#include "ops/generated/attributes.h"
#include "ops/revision.h"

namespace cameo::ops {

void expand_non_max_suppression(const op::NonMaxSuppression& a, Expand& e);

}  // namespace cameo::ops
