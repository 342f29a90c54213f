#include "ops/nn/expansions.h"

#include <algorithm>

namespace cameo::ops {

bool ranks_known(const Expand& e) {
  const auto& inputs = e.graph[e.node].inputs;
  return std::all_of(inputs.begin(), inputs.end(), [&](ValueId v) { return !v || e.graph[v].fact.has_rank(); });
}

ValueId axes_from(On& on, int64_t from, int64_t rank) {
  std::vector<int64_t> axes;
  for (int64_t i = from; i < rank; ++i) axes.push_back(i);
  return on.ints(axes);
}

ValueId reshape_like(On& on, ValueId v, ValueId like) {
  if (on.has_rank(like)) {
    std::vector<int64_t> sizes;
    for (const Dim d : on.shape(like)) sizes.push_back(d.known().value_or(-1));
    const bool has_zero = std::count(sizes.begin(), sizes.end(), 0) > 0;
    if (!has_zero && std::count(sizes.begin(), sizes.end(), -1) <= 1) return on.Reshape(v, on.ints(sizes));
  }
  return on.Reshape(v, on.Shape(like));
}

ValueId reshape_to(On& on, ValueId v, std::initializer_list<int64_t> sizes) { return on.Reshape(v, on.ints(sizes)); }

ValueId per_channel(On& on, ValueId v, int64_t rank) {
  std::vector<int64_t> sizes(static_cast<size_t>(std::max<int64_t>(rank - 1, 1)), 1);
  sizes[0] = -1;
  return sizes.size() == 1 ? v : on.Reshape(v, on.ints(sizes));
}

ValueId slice_axis(On& on, ValueId v, int64_t axis, int64_t from, int64_t to) {
  const ValueId starts = on.ints({from}), ends = on.ints({to}), axes = on.ints({axis});
  return on.Slice(v, starts, ends, axes);
}

ValueId transpose(On& on, ValueId v, std::vector<int64_t> perm) { return on.Transpose(v, {.perm = std::move(perm)}); }
ValueId concat_values(On& on, std::vector<ValueId> parts, int64_t axis) { return on.Concat(parts, {.axis = axis}); }
ValueId unsqueeze(On& on, ValueId v, std::initializer_list<int64_t> axes) { return on.Unsqueeze(v, on.ints(axes)); }
ValueId squeeze(On& on, ValueId v, std::initializer_list<int64_t> axes) { return on.Squeeze(v, on.ints(axes)); }

}  // namespace cameo::ops
