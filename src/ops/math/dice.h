// The random numbers of reference kernels.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>
#include <random>

#include "ops/math/elementwise.h"

namespace cameo::ops {

// The standard fixes this engine's numbers on every platform, and its doubles below are the ones numpy's seed gives.
class Dice {
 public:
  template <class Seed>
  Dice(const std::optional<Seed>& given, Eval& k)
      : engine_(given ? number(*given) : static_cast<uint32_t>(k.seed ? k.seed() >> 32 : 0)) {}

  double uniform() {  // in [0, 1), 53 random bits
    const uint32_t high = next() >> 5, low = next() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  uint32_t next() { return static_cast<uint32_t>(engine_()); }
  static uint32_t number(int64_t seed) { return static_cast<uint32_t>(seed); }
  static uint32_t number(float seed) {
    return std::fabs(seed) < 9e18f ? static_cast<uint32_t>(static_cast<int64_t>(seed)) : 0;
  }
  std::mt19937 engine_;
};

}  // namespace cameo::ops
