// The opset that a changed model needs.
#pragma once

#include "api/state.h"

namespace cameo {

// The model's own, or the nearest newer one that has a form of all its nodes.
int64_t needed_opset(const ModelState& s);

}  // namespace cameo
