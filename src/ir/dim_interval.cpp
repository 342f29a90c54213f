#include "ir/dim_interval.h"

#include "ir/checked.h"

namespace cameo::ir {
namespace {

constexpr int64_t down = Interval::minus_infinity, up = Interval::plus_infinity;

// An end beyond 64 bits: as a lower end it may be lowered, as an upper end raised, so it is clamped to the nearest
// number that is still a bound.
int64_t clamp_lo(bool towards_plus) { return towards_plus ? up - 1 : down; }
int64_t clamp_hi(bool towards_plus) { return towards_plus ? up : down + 1; }

bool infinite(int64_t v) { return v == down || v == up; }

// The product of two ends, as an extended number; 0 * infinity is 0 because the infinite end is never reached.
struct Wide {
  int64_t value = 0;
  bool overflow = false;  // the sign of `value` says where to
};
Wide multiply(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return {0, false};
  const bool positive = (a > 0) == (b > 0);
  int64_t r;
  if (infinite(a) || infinite(b)) return {positive ? up : down, false};
  if (__builtin_mul_overflow(a, b, &r)) return {positive ? 1 : -1, true};
  return {r, false};
}

template <class Quotient>
Interval divide(Interval a, Interval b, Quotient quotient) {
  // Positive and negative divisors apart; on each the quotient is monotone in both arguments, so the corners bound it.
  Interval out{up, down};
  for (const Interval part : {intersect(b, {1, up}), intersect(b, {down, -1})}) {
    if (part.empty()) continue;
    for (const int64_t n : {a.lo, a.hi})
      for (const int64_t d : {part.lo, part.hi}) {
        Interval q;
        if (infinite(n) && infinite(d)) q = (n > 0) == (d > 0) ? Interval{0, up} : Interval{down, 0};
        else if (infinite(n)) q = (n > 0) == (d > 0) ? Interval{up, up} : Interval{down, down};
        else if (infinite(d)) q = Interval::point(quotient(n > 0 ? 1 : n < 0 ? -1 : 0, d > 0 ? INT32_MAX : INT32_MIN));
        else if (n == INT64_MIN && d == -1) q = {up, up};
        else q = Interval::point(quotient(n, d));
        out = hull(out, q);
      }
  }
  return out.empty() ? Interval{} : Interval{out.lo == up ? up - 1 : out.lo, out.hi == down ? down + 1 : out.hi};
}

}  // namespace

Interval Interval::point(int64_t v) { return {v == up ? up - 1 : v, v == down ? down + 1 : v}; }
Interval Interval::from(const DimRange& r) { return {r.lo ? point(*r.lo).lo : down, r.hi ? point(*r.hi).hi : up}; }
DimRange Interval::range() const {
  DimRange out;
  if (bounded_below()) out.lo = lo;
  if (bounded_above()) out.hi = hi;
  return out;
}

Interval operator+(Interval a, Interval b) {
  Interval r;
  if (a.bounded_below() && b.bounded_below() && __builtin_add_overflow(a.lo, b.lo, &r.lo)) r.lo = clamp_lo(a.lo > 0);
  if (a.bounded_above() && b.bounded_above() && __builtin_add_overflow(a.hi, b.hi, &r.hi)) r.hi = clamp_hi(a.hi > 0);
  if (r.lo == up) r.lo = up - 1;
  if (r.hi == down) r.hi = down + 1;
  return r;
}

Interval operator-(Interval a) { return {a.hi == up ? down : -a.hi, a.lo == down ? up : -a.lo}; }

Interval operator*(Interval a, Interval b) {
  const auto ends = [](int64_t lo, int64_t hi) { return Interval{lo == up ? up - 1 : lo, hi == down ? down + 1 : hi}; };
  if (a.lo == 1 && a.hi == 1) return ends(b.lo, b.hi);
  if (b.lo == 1 && b.hi == 1) return ends(a.lo, a.hi);
  if (a.lo >= 0 && b.lo >= 0 && !a.empty() && !b.empty()) {  // sizes mostly are
    const Wide lo = multiply(a.lo, b.lo), hi = multiply(a.hi, b.hi);
    return ends(lo.overflow ? clamp_lo(true) : lo.value, hi.overflow ? clamp_hi(true) : hi.value);
  }
  Interval r{up, down};
  for (const int64_t x : {a.lo, a.hi})
    for (const int64_t y : {b.lo, b.hi}) {
      const Wide w = multiply(x, y);
      r.lo = std::min(r.lo, w.overflow ? clamp_lo(w.value > 0) : w.value);
      r.hi = std::max(r.hi, w.overflow ? clamp_hi(w.value > 0) : w.value);
    }
  return ends(r.lo, r.hi);
}

Interval power(Interval a, uint32_t exponent) {
  if (exponent == 1) return a;
  Interval r = Interval::point(1);
  for (uint32_t i = 0; i < exponent; ++i) r = r * a;
  return exponent % 2 == 0 && r.lo < 0 ? Interval{0, r.hi} : r;
}

Interval floor_div(Interval a, Interval b) {
  return divide(a, b, [](int64_t n, int64_t d) { return checked_floor_div(n, d); });
}
Interval trunc_div(Interval a, Interval b) {
  return divide(a, b, [](int64_t n, int64_t d) { return n / d; });
}

Interval mod(Interval a, Interval b) {
  if (a.lo >= 0 && b.lo > a.hi) return a;  // smaller than every divisor
  Interval r{b.lo >= 0 ? 0 : b.bounded_below() ? b.lo + 1 : down, b.hi <= 0 ? 0 : b.bounded_above() ? b.hi - 1 : up};
  if (a.lo >= 0 && b.lo >= 0) r.hi = std::min(r.hi, a.hi);
  return r;
}

Interval unscale(Interval a, int64_t scale) {
  if (scale == INT64_MIN) return {};
  if (scale < 0) {
    a = -a;
    scale = -scale;
  }
  Interval r;
  if (a.bounded_below()) r.lo = -checked_floor_div(-a.lo, scale);
  if (a.bounded_above()) r.hi = checked_floor_div(a.hi, scale);
  return r;
}

}  // namespace cameo::ir
