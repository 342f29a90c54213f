// Bounds of a dim: closed intervals of mathematical integers whose ends saturate to infinity, never wrap.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/dim.h"

namespace cameo::ir {

struct Interval {
  static constexpr int64_t minus_infinity = INT64_MIN, plus_infinity = INT64_MAX;
  int64_t lo = minus_infinity, hi = plus_infinity;

  static Interval point(int64_t v);
  static Interval at_least(int64_t v) { return {v, plus_infinity}; }
  static Interval from(const DimRange& r);
  DimRange range() const;

  bool bounded_below() const { return lo != minus_infinity; }
  bool bounded_above() const { return hi != plus_infinity; }
  bool empty() const { return lo > hi; }
  bool is_point() const { return lo == hi; }
  bool contains(int64_t v) const { return lo <= v && v <= hi; }
  bool contains(Interval o) const { return lo <= o.lo && o.hi <= hi; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

inline Interval intersect(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }
inline Interval hull(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)}; }
inline Interval min_of(Interval a, Interval b) { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }
inline Interval max_of(Interval a, Interval b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Interval operator+(Interval a, Interval b);
Interval operator-(Interval a);
inline Interval operator-(Interval a, Interval b) { return a + -b; }
Interval operator*(Interval a, Interval b);
Interval power(Interval a, uint32_t exponent);  // even powers are never negative
// Zero divisors are left out: dividing by them is an error, which no bound needs to cover.
Interval floor_div(Interval a, Interval b);
Interval trunc_div(Interval a, Interval b);
Interval mod(Interval a, Interval b);
// The integers x with scale * x in `a`. Precondition: scale != 0.
Interval unscale(Interval a, int64_t scale);

}  // namespace cameo::ir
