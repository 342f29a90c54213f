// Resize as Gather, axis by axis, for what older opsets lack: cubic and nearest modes, coordinate modes,
// antialiasing, regions of interest, sizes that only the model knows.
#pragma once

#include "ops/generated/attributes.h"
#include "ops/revision.h"

namespace cameo::ops {

void expand_resize(const op::Resize& a, Expand& e);

}  // namespace cameo::ops
