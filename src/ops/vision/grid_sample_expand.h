// GridSample as Gather, for opsets without it, and for volumes before opset 20.
#pragma once

#include "ops/generated/attributes.h"
#include "ops/revision.h"

namespace cameo::ops {

void expand_grid_sample(const op::GridSample& a, Expand& e);

}  // namespace cameo::ops
