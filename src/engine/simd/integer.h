// What products of integers have in common: how sums become the result.
#pragma once

#include <optional>
#include <vector>

#include "engine/compiler.h"

namespace cameo::engine {

inline constexpr int64_t deepest_sum = 32768;  // products of two numbers less their zero points that 32 bits hold

bool is_byte(DType t);
ValueId input_of(const Node& node, size_t i);
// One number; 0 where there is no such operand. Nothing where it varies.
std::optional<int32_t> constant_zero(Compiler& c, ValueId v);

// The result of QLinearConv and QLinearMatMul, from sums: per channel a scale and a bias, and one zero point.
struct Requantize {
  std::vector<float> scale;
  std::vector<int32_t> bias;
  float zero = 0;
};
std::optional<Requantize> conv_result(Compiler& c, const Node& qlinear_conv, int64_t channels);
std::optional<Requantize> product_result(Compiler& c, const Node& qlinear_matmul, int64_t columns);

}  // namespace cameo::engine
