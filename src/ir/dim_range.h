// Bounds that look through cancellation: n - 4*floor(n/4) is in [0, 3], max(n, m) - n is not negative.
#pragma once

#include "ir/dim_expr.h"

namespace cameo::ir {

// What is known about dims besides their form. The default knows nothing.
class DimKnowledge {
 public:
  virtual ~DimKnowledge() = default;
  // The bounds of p, tightened by what is recorded of it. `form` are those that its form gives.
  virtual Interval tighten(const Poly& p, Interval form) const;
};

// Sound bounds of `p`. The work is bounded; when it runs out the bounds are wider, never wrong.
Interval bounds(const Poly& p, const DimKnowledge& known);

Interval tight_interval(const Poly& p);
Interval tight_interval(Dim d);  // remembered per expression
// Provable only from the form; false also means "unknown".
bool always_less_equal(Dim a, Dim b);

}  // namespace cameo::ir
