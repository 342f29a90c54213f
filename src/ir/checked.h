// 64-bit arithmetic that notices overflow. Dims are mathematical integers: a wrapped one would be a wrong size.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::ir {

[[noreturn]] void dim_overflow();

inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) [[unlikely]]
    dim_overflow();
  return r;
}
inline int64_t checked_sub(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_sub_overflow(a, b, &r)) [[unlikely]]
    dim_overflow();
  return r;
}
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) [[unlikely]]
    dim_overflow();
  return r;
}
inline int64_t checked_neg(int64_t a) { return checked_sub(0, a); }

// Rounds to minus infinity. Precondition: b != 0.
inline int64_t checked_floor_div(int64_t a, int64_t b) {
  if (b == -1) return checked_neg(a);
  const int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
// Rounds to zero. Precondition: b != 0.
inline int64_t checked_trunc_div(int64_t a, int64_t b) { return b == -1 ? checked_neg(a) : a / b; }
// Has the sign of b. Precondition: b != 0.
inline int64_t floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace cameo::ir
