// Arithmetic with a number, and other forms of one or two nodes.
#pragma once

#include <vector>

#include "lowering/lower.h"

namespace cameo::lowering {

inline V times(Lower& on, V x, double v) { return on.Mul(x, on.number_like(v, x)); }
inline V plus(Lower& on, V x, double v) { return on.Add(x, on.number_like(v, x)); }
inline V squared(Lower& on, V x) { return on.Mul(x, x); }
inline V at_least(Lower& on, V x, double low) { return on.Max(std::vector<ValueId>{x, on.number_like(low, x)}); }
inline V at_most(Lower& on, V x, double high) { return on.Min(std::vector<ValueId>{x, on.number_like(high, x)}); }
inline V clip(Lower& on, V x, const Opt<Num>& lo, const Opt<Num>& hi) {
  return on.Clip(x, lo ? on.scalar_like(*lo, x).id : ValueId(), hi ? on.scalar_like(*hi, x).id : ValueId());
}
inline V is_nan(Lower& on, V x) { return on.is_float(x) ? V(on.IsNaN(x)) : V(on.Not(on.Equal(x, x))); }
inline V as_bool(Lower& on, V x) { return on.to(x, DType::boolean); }

}  // namespace cameo::lowering
