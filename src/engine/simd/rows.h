// Elementwise work on short runs of floats: what chains of elementwise operators are made of.
#pragma once

#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

enum class Unary : uint8_t {
  copy,
  relu,
  leaky_relu,
  elu,
  sigmoid,
  tanh,
  exp,
  log,
  sqrt,
  erf,
  abs,
  neg,
  reciprocal,
  floor,
  ceil,
  hard_swish,
  hard_sigmoid,
  gelu,
  gelu_tanh,
  swish,
  clip,
  softplus,
  round_f16,
  round_bf16,
};
enum class Binary : uint8_t { add, sub, mul, div, max, min, rsub, rdiv };

// Output may be the input. `a` and `b` are the operator's numbers: alpha and beta, low and high.
void unary_row(Unary op, const float* x, float* y, int64_t n, float a, float b);
void binary_row(Binary op, const float* x, const float* other, float* y, int64_t n);
void binary_scalar_row(Binary op, const float* x, float other, float* y, int64_t n);

}  // namespace cameo::engine
