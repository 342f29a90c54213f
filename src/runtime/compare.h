// Whether two run-time values are the same, within what their element type allows.
#pragma once

#include <optional>
#include <string>

#include "kernels/datum.h"

namespace cameo::runtime {

struct Tolerance {
  std::optional<double> rtol, atol;  // unset: by element type
  // Two programs of one model, which may compute in another order: wider defaults, and atol is a part of the largest
  // number that is wanted, where that is above 1; unless set, it is at most rtol of the largest number.
  bool other_program = false;
};
struct Bounds {
  double rtol, atol;
};
// |a - b| <= atol + rtol * |b|. Integers, bools and strings must be equal.
Bounds bounds_for(DType t, const Tolerance& wanted);

struct Comparison {
  bool same = true;
  std::string why;         // in words, when not
  int64_t differing = 0;   // elements beyond the bounds
  double worst = 0;        // largest difference seen, beyond or not
  double largest = 0;      // the largest number that is wanted
  bool unbounded = false;  // another type or shape, or a NaN or an infinity on one side only
};

// NaN equals NaN, infinities equal themselves. `b` is the reference.
Comparison compare(const Datum& a, const Datum& b, const Tolerance& tolerance = {});

}  // namespace cameo::runtime
