// Which scale (and zero point) an element has: one for all, one per slice of an axis, or one per block along it.
#pragma once

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/revision.h"

namespace cameo::ops {

struct ScaleMap {
  int64_t outer = 1, length = 1, inner = 1;  // the input as [outer, axis, inner]
  int64_t count = 1, block = 0;              // scales along the axis; elements to each when blocked
  bool blocked = false;

  int64_t at(int64_t i) const {
    if (count == 1 && !blocked) return 0;
    const int64_t along = i / inner % length;
    return blocked ? (i / inner / length * count + along / block) * inner + i % inner : along;
  }
};
ScaleMap scale_map(Eval& k, const Tensor& x, const Tensor& scale, int64_t axis, int64_t block_size);

// Checks the shapes of scale (input 1) and zero point (input 2) against the input's.
void infer_scale(Infer& c, int64_t axis, int64_t block_size);

double lowest_of(DType integer);
double highest_of(DType integer);

// For expansions: `v` (scale or zero point) so that it broadcasts over the input. None: refused.
ValueId spread_scale(Expand& e, ValueId v, int64_t axis, int64_t block_size);
bool is_one_scale(const Graph& g, ValueId scale);

}  // namespace cameo::ops
