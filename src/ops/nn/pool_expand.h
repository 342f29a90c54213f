// Pools tap by tap: one strided slice of the padded input for each place in the window. For dilations and rounding
// up, which came late.
#pragma once

#include <functional>
#include <vector>

#include "ops/nn/window.h"
#include "ops/on.h"
#include "ops/revision.h"

namespace cameo::ops {

struct PooledTaps {
  std::vector<ValueId> taps;       // all of the output's shape; none when refused
  std::optional<Windows> windows;  // where the sizes are known
  bool padded = false;             // some tap may lie outside the input
};
// `filler` stands outside of the input. Refuses through `e` where it cannot be done.
PooledTaps pooled_taps(Expand& e, ValueId x, const WindowAttrs& w, const std::vector<int64_t>& kernel, ValueId filler);

// Whether a pool dilates its window; an absent list does not.
bool is_dilated(const std::optional<std::vector<int64_t>>& dilations);

}  // namespace cameo::ops
