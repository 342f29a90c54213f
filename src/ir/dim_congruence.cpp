#include "ir/dim_congruence.h"

#include <numeric>

#include "ir/checked.h"
#include "support/error.h"

namespace cameo::ir {
namespace {

// Products of two numbers below this fit into 64 bits.
constexpr int64_t small = int64_t{1} << 31;

int64_t gcd(int64_t a, int64_t b) {
  if (a == INT64_MIN || b == INT64_MIN) return 1;
  return std::gcd(a, b);
}

Congruence make(int64_t modulus, int64_t remainder) {
  if (modulus == 0) return Congruence::exactly(remainder);
  return Congruence::modulo(modulus, remainder);
}

template <class Compute>
Congruence unless_overflow(Compute compute) {
  try {
    return compute();
  } catch (const Error&) {
    return {};
  }
}

// x with a*x = 1 modulo m, for a and m without common divisor.
int64_t inverse(int64_t a, int64_t m) {
  int64_t r0 = m, r1 = floor_mod(a, m), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const int64_t q = r0 / r1;
    const int64_t r2 = r0 - q * r1, t2 = t0 - q * t1;
    r0 = r1, r1 = r2, t0 = t1, t1 = t2;
  }
  return floor_mod(t0, m);
}

}  // namespace

Congruence Congruence::modulo(int64_t modulus, int64_t remainder) { return {modulus, floor_mod(remainder, modulus)}; }

std::optional<int64_t> Congruence::remainder_of(int64_t m) const {
  if (modulus % m != 0) return std::nullopt;
  return floor_mod(remainder, m);
}

bool Congruence::contradicts(Congruence o) const {
  const int64_t g = gcd(modulus, o.modulus);
  if (g == 0) return remainder != o.remainder;
  return floor_mod(remainder, g) != floor_mod(o.remainder, g);
}

Congruence operator+(Congruence a, Congruence b) {
  return unless_overflow([&] { return make(gcd(a.modulus, b.modulus), checked_add(a.remainder, b.remainder)); });
}

Congruence operator*(Congruence a, Congruence b) {
  return unless_overflow([&] {
    const int64_t m = gcd(gcd(checked_mul(a.modulus, b.remainder), checked_mul(b.modulus, a.remainder)),
                          checked_mul(a.modulus, b.modulus));
    return make(m, checked_mul(a.remainder, b.remainder));
  });
}

Congruence floor_div(Congruence a, int64_t b) {
  if (a.modulus % b != 0) return {};
  return make(a.modulus / b, checked_floor_div(a.remainder, b));
}

Congruence join(Congruence a, Congruence b) {
  return unless_overflow(
      [&] { return make(gcd(gcd(a.modulus, b.modulus), checked_sub(a.remainder, b.remainder)), a.remainder); });
}

Congruence meet(Congruence a, Congruence b) {
  if (a.modulus == 0 || b.modulus == 1) return a;
  if (b.modulus == 0 || a.modulus == 1) return b;
  if (a.modulus < b.modulus) std::swap(a, b);
  const int64_t g = gcd(a.modulus, b.modulus), rest = b.modulus / g;
  if (rest == 1 || a.modulus >= small || a.modulus / g * b.modulus >= small) return a;
  // a.remainder + a.modulus * k, with k chosen so that it is b.remainder modulo b.modulus.
  const int64_t k = floor_mod((b.remainder - a.remainder) / g % rest * inverse(a.modulus / g, rest), rest);
  return Congruence::modulo(a.modulus * rest, a.remainder + a.modulus * k);
}

std::optional<Congruence> solve(Congruence a, int64_t factor) {
  if (factor == INT64_MIN) return Congruence{};
  if (a.modulus == 0) {
    if (a.remainder % factor != 0) return std::nullopt;
    return factor == -1 && a.remainder == INT64_MIN ? Congruence{} : Congruence::exactly(a.remainder / factor);
  }
  const int64_t g = gcd(a.modulus, factor);
  if (a.remainder % g != 0) return std::nullopt;
  const int64_t m = a.modulus / g, r = a.remainder / g;
  if (m == 1) return Congruence{};
  const int64_t f = floor_mod(factor / g, m);
  if (f == 1) return Congruence::modulo(m, r);
  if (f == m - 1) return Congruence::modulo(m, -r);
  if (m >= small) return Congruence{};
  return Congruence::modulo(m, floor_mod(r, m) * inverse(f, m));
}

}  // namespace cameo::ir
