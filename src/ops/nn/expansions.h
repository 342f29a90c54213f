// What expansions of this family need again and again.
#pragma once

#include "ops/on.h"
#include "ops/revision.h"

namespace cameo::ops {

// Whether every operand has a known rank, so that the shape rule has looked at axes, ranks and attributes.
bool ranks_known(const Expand& e);
// The axes [from, rank) as a constant.
ValueId axes_from(On& on, int64_t from, int64_t rank);
// `v` in the shape of `like`: a constant shape when at most one size is unknown, else computed by the model.
ValueId reshape_like(On& on, ValueId v, ValueId like);
// `v` with these sizes, 0 copying the input's and -1 the rest.
ValueId reshape_to(On& on, ValueId v, std::initializer_list<int64_t> sizes);
// A parameter per channel [C], to be broadcast over [N, C, spatial...].
ValueId per_channel(On& on, ValueId v, int64_t rank);
ValueId slice_axis(On& on, ValueId v, int64_t axis, int64_t from, int64_t to);
ValueId transpose(On& on, ValueId v, std::vector<int64_t> perm);
ValueId concat_values(On& on, std::vector<ValueId> parts, int64_t axis);
ValueId unsqueeze(On& on, ValueId v, std::initializer_list<int64_t> axes);
ValueId squeeze(On& on, ValueId v, std::initializer_list<int64_t> axes);

}  // namespace cameo::ops
