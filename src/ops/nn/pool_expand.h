// Pools tap by tap: one strided slice of the padded input for each place in the window. For dilations and rounding
// up, which came late.
#pragma once

#include <functional>
#include <vector>

#include "ops/nn/expansions.h"
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

// A pool along one axis as one along two, the first of them of one element. For engines only: every opset has the
// plain form.
template <class Attrs>
void pool_along_two(Attrs a, Expand& e) {
  On& on = e.on;
  const auto widened = [](std::optional<std::vector<int64_t>>& list, int64_t with) {
    if (list && list->size() == 1) list->insert(list->begin(), with);
    else if (list && list->size() == 2) *list = {0, (*list)[0], 0, (*list)[1]};
  };
  a.kernel_shape.insert(a.kernel_shape.begin(), 1);
  widened(a.strides, 1);
  widened(a.dilations, 1);
  widened(a.pads, 0);
  std::vector<ValueId> out = on.make(std::move(a), {unsqueeze(on, e.in(0), {2})}, e.outputs());
  for (ValueId& v : out) v = squeeze(on, v, {2});
  e.replace(std::move(out));
}

template <class Attrs>
constexpr Expansion two_axes() {
  return expansion<Attrs>(
      0, Exactness::exact, [](const Attrs& a, Expand& e) { pool_along_two(a, e); },
      [](const Attrs& a, const Graph& g, NodeId n, int64_t) {
        const Fact& x = g[g.input(n, 0)].fact;
        return a.kernel_shape.size() == 1 && x.has_rank() && x.rank() == 3;
      });
}

}  // namespace cameo::ops
