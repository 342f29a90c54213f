// Bounds that look through cancellation: n - 4*floor(n/4) is in [0, 3], max(n, m) - n is not negative.
#pragma once

#include "ir/dim_expr.h"

namespace cameo {

// What is known about dims besides their form. The default knows nothing.
class DimKnowledge {
 public:
  virtual ~DimKnowledge() = default;
  // Bounds recorded for exactly this polynomial, or for one that differs from it by a factor and a constant.
  virtual Interval recorded(const Poly& p) const;
};

// Sound bounds of `p`. The work is bounded; when it runs out the bounds are wider, never wrong.
Interval bounds(const Poly& p, const DimKnowledge& known);

Interval tight_interval(const Poly& p);
Interval tight_interval(Dim d);  // remembered per expression
// Provable from the form alone; false also means "do not know".
bool always_less_equal(Dim a, Dim b);

}  // namespace cameo
