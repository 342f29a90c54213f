// What is known of a number modulo another: it is remainder + k*modulus for some k.
#pragma once

#include <cstdint>
#include <optional>

#include "support/layers.h"

namespace cameo::ir {

struct Congruence {
  int64_t modulus = 1;    // 0: exactly `remainder`; 1: nothing is known
  int64_t remainder = 0;  // in [0, modulus) unless modulus is 0

  static Congruence exactly(int64_t v) { return {0, v}; }
  static Congruence modulo(int64_t modulus, int64_t remainder);  // precondition: modulus > 0
  bool informative() const { return modulus != 1; }
  // The remainder modulo m, when it is decided.
  std::optional<int64_t> remainder_of(int64_t m) const;
  // Whether no number is congruent to both.
  bool contradicts(Congruence other) const;
  friend bool operator==(const Congruence&, const Congruence&) = default;
};

// All are sound; what does not fit into 64 bits becomes less informative.
Congruence operator+(Congruence a, Congruence b);
Congruence operator*(Congruence a, Congruence b);
Congruence floor_div(Congruence a, int64_t b);  // precondition: b > 0
Congruence join(Congruence a, Congruence b);    // holds for either
// Holds for both. Precondition: they do not contradict.
Congruence meet(Congruence a, Congruence b);
// The x with factor*x congruent to `a`: nullopt when there is none. Precondition: factor != 0.
std::optional<Congruence> solve(Congruence a, int64_t factor);

}  // namespace cameo::ir
