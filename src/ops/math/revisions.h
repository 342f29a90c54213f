// Version steps that many operators share.
#pragma once

#include "ops/revision.h"

namespace cameo::ops {

void drop_consumed_inputs(Upgrade& u);  // before 6: a hint to allocators, without meaning
void lift_old_broadcast(Upgrade& u);    // before 7: `broadcast` and `axis` instead of numpy's rule
void say_old_broadcast(Downgrade& d);
void need_equal_shapes(Downgrade& d);  // before 8 variadic operators did not broadcast
// The axis, from 0 to rank-1 as before 11. Refuses when it is negative and the rank unknown.
void plain_axis(Downgrade& d, std::string_view attr, int64_t fallback);

inline constexpr Revision since_6[] = {{6, drop_consumed_inputs}};
inline constexpr Revision broadcasting_since_7[] = {{6, drop_consumed_inputs},
                                                    {7, lift_old_broadcast, say_old_broadcast}};
inline constexpr Revision broadcasting_since_8[] = {{6, drop_consumed_inputs}, {8, nullptr, need_equal_shapes}};

}  // namespace cameo::ops
