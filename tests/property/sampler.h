// Random choices, shapes and tensors for tests over generated calls, and how those are described.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "kernels/carrier.h"
#include "kernels/datum.h"
#include "ir/type.h"

namespace cameo::tests {

class Sampler {
 public:
  explicit Sampler(uint32_t seed) : engine_(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(between(0, static_cast<int64_t>(from.size()) - 1))];
  }
  std::vector<int64_t> shape(int64_t most_axes = 4) {
    std::vector<int64_t> out(static_cast<size_t>(between(0, most_axes)));
    for (auto& d : out) d = chance(10) ? 0 : between(1, 3);
    return out;
  }
  // Like `base`, or its end, or with a 1 somewhere, or something else.
  std::vector<int64_t> related(std::vector<int64_t> base) {
    const int64_t how = between(0, 9);
    if (how < 5 || base.empty()) return how == 9 ? shape() : base;
    if (how < 7) return {base.begin() + between(0, static_cast<int64_t>(base.size())), base.end()};
    if (how == 9) return shape();
    base[static_cast<size_t>(between(0, static_cast<int64_t>(base.size()) - 1))] = 1;
    return base;
  }
  Tensor tensor(DType type, std::vector<int64_t> shape) {
    const auto count = static_cast<size_t>(element_count(shape));
    if (type == DType::string) {
      std::vector<std::string> words(count);
      for (auto& w : words) w = std::string(static_cast<size_t>(between(0, 3)), 'a');
      return {std::move(shape), std::move(words)};
    }
    if (is_complex(type)) return zeros(type, std::move(shape));
    std::vector<double> values(count);
    for (auto& v : values)
      v = is_float(type) && chance(30) ? static_cast<double>(between(-30, 30)) / 10
                                       : static_cast<double>(between(is_unsigned_int(type) ? 0 : -2, 3));
    return store(type, std::move(shape), values);
  }

 private:
  std::mt19937 engine_;
};

// Whether a computed tensor is what inference said, as far as it said.
bool describes(const Type& type, const Tensor& t);
std::string describe_operands(const std::vector<Datum>& operands);

}  // namespace cameo::tests
