#include "engine/simd/rows.h"

#include <cmath>

#include "engine/simd/half_math.h"

namespace cameo::engine {

namespace {

using Row1 = void (*)(const float*, float*, int64_t, float, float);
using Row2 = void (*)(const float*, const float*, float*, int64_t);
using RowS = void (*)(const float*, float, float*, int64_t);

// A clone per instruction set cannot be a lambda or a template: each loop is a function of its own.
#define UNARY_ROW(name, expression)                                                                                  \
  CAMEO_SIMD void name(const float* in, float* out, int64_t n, [[maybe_unused]] float a, [[maybe_unused]] float b) { \
    for (int64_t i = 0; i < n; ++i) {                                                                                \
      const float x = in[i];                                                                                         \
      out[i] = expression;                                                                                           \
    }                                                                                                                \
  }
UNARY_ROW(row_copy, x)
UNARY_ROW(row_relu, x < 0.0f ? 0.0f : x)
UNARY_ROW(row_leaky_relu, x < 0.0f ? a * x : x)
UNARY_ROW(row_elu, x < 0.0f ? a * (exp_of(x) - 1.0f) : x)
UNARY_ROW(row_sigmoid, sigmoid_of(x))
UNARY_ROW(row_tanh, tanh_of(x))
UNARY_ROW(row_exp, exp_of(x))
UNARY_ROW(row_log, log_of(x))
UNARY_ROW(row_sqrt, __builtin_sqrtf(x))
UNARY_ROW(row_erf, erf_of(x))
UNARY_ROW(row_abs, __builtin_fabsf(x))
UNARY_ROW(row_neg, -x)
UNARY_ROW(row_reciprocal, 1.0f / x)
UNARY_ROW(row_floor, __builtin_floorf(x))
UNARY_ROW(row_ceil, __builtin_ceilf(x))
UNARY_ROW(row_hard_sigmoid, a* x + b < 0.0f ? 0.0f : a * x + b > 1.0f ? 1.0f : a * x + b)
UNARY_ROW(row_hard_swish, x*(x + 3.0f < 0.0f ? 0.0f : x + 3.0f > 6.0f ? 6.0f : x + 3.0f) * (1.0f / 6))
UNARY_ROW(row_gelu, 0.5f * x * (1.0f + erf_of(x * 0.70710678f)))
UNARY_ROW(row_gelu_tanh, 0.5f * x * (1.0f + tanh_of(0.79788456f * (x + 0.044715f * x * x * x))))
UNARY_ROW(row_swish, x* sigmoid_of(a* x))
UNARY_ROW(row_clip, x<a ? a : x> b ? b : x)
UNARY_ROW(row_softplus, (x > 0.0f ? x : 0.0f) + log_of(1.0f + exp_of(-__builtin_fabsf(x))))
UNARY_ROW(row_round_f16, f16_to_f32(f32_to_f16(x)))
UNARY_ROW(row_round_bf16, bf16_to_f32(f32_to_bf16(x)))
#undef UNARY_ROW

#define BINARY_ROW(name, expression)                                                 \
  CAMEO_SIMD void name(const float* in, const float* other, float* out, int64_t n) { \
    for (int64_t i = 0; i < n; ++i) {                                                \
      const float x = in[i], y = other[i];                                           \
      out[i] = expression;                                                           \
    }                                                                                \
  }                                                                                  \
  CAMEO_SIMD void name##_scalar(const float* in, float y, float* out, int64_t n) {   \
    for (int64_t i = 0; i < n; ++i) {                                                \
      const float x = in[i];                                                         \
      out[i] = expression;                                                           \
    }                                                                                \
  }
BINARY_ROW(row_add, x + y)
BINARY_ROW(row_sub, x - y)
BINARY_ROW(row_mul, x* y)
BINARY_ROW(row_div, x / y)
BINARY_ROW(row_max, x != x ? x : y != y ? y : x > y ? x : y)
BINARY_ROW(row_min, x != x ? x : y != y ? y : x < y ? x : y)
BINARY_ROW(row_rsub, y - x)
BINARY_ROW(row_rdiv, y / x)
#undef BINARY_ROW

}  // namespace

void unary_row(Unary op, const float* x, float* y, int64_t n, float a, float b) {
  static constexpr Row1 rows[] = {row_copy,       row_relu,         row_leaky_relu, row_elu,       row_sigmoid,
                                  row_tanh,       row_exp,          row_log,        row_sqrt,      row_erf,
                                  row_abs,        row_neg,          row_reciprocal, row_floor,     row_ceil,
                                  row_hard_swish, row_hard_sigmoid, row_gelu,       row_gelu_tanh, row_swish,
                                  row_clip,       row_softplus,     row_round_f16,  row_round_bf16};
  rows[static_cast<size_t>(op)](x, y, n, a, b);
}

void binary_row(Binary op, const float* x, const float* other, float* y, int64_t n) {
  static constexpr Row2 rows[] = {row_add, row_sub, row_mul, row_div, row_max, row_min, row_rsub, row_rdiv};
  rows[static_cast<size_t>(op)](x, other, y, n);
}

void binary_scalar_row(Binary op, const float* x, float other, float* y, int64_t n) {
  static constexpr RowS rows[] = {row_add_scalar, row_sub_scalar, row_mul_scalar,  row_div_scalar,
                                  row_max_scalar, row_min_scalar, row_rsub_scalar, row_rdiv_scalar};
  rows[static_cast<size_t>(op)](x, other, y, n);
}

}  // namespace cameo::engine
