// Random expressions with an evaluator of their own, to compare the normal form with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ir/dim.h"

namespace cameo::tests {

struct RandomDim {
  enum class Op : uint8_t {
    literal,
    symbol,
    add,
    subtract,
    multiply,
    floor_div,
    ceil_div,
    trunc_div,
    mod,
    min,
    max,
    broadcast
  };
  Op op = Op::literal;
  int64_t number = 0;  // the literal, or which symbol
  std::vector<RandomDim> args;

  // Straight from the definitions; nullopt where there is no value.
  std::optional<int64_t> value(const std::vector<int64_t>& symbols) const;
  Dim build(const std::vector<Dim>& symbols) const;
  std::string text(const std::vector<Dim>& symbols) const;  // with parentheses everywhere
};

RandomDim random_dim(std::mt19937& random, int depth, size_t symbols);

inline int64_t pick(std::mt19937& random, int64_t lo, int64_t hi) {
  return lo + static_cast<int64_t>(random() % static_cast<uint64_t>(hi - lo + 1));
}

}  // namespace cameo::tests
