// Seeded choices: the same on every machine.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace cameo::tests {

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  double number() {
    static constexpr double usual[] = {0, 1, -1, 0.5, 2, 3, 6, -0.5, 0.25, 1e-5};
    return chance(60) ? usual[between(0, 9)] : static_cast<double>(between(-300, 300)) / 100;
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(between(0, static_cast<int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace cameo::tests
