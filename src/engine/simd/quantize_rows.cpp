#include "engine/simd/quantize_rows.h"

#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

// The nearest whole number, ties to even, of what lies far inside the floats' whole numbers.
CAMEO_INLINE float nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }

// Rounds, shifts and keeps inside [low, high]. A quotient beyond a million is outside whatever the zero point.
CAMEO_INLINE float rounded(float q, float zero, float low, float high) {
  const float inside = q < -1e6f ? -1e6f : q > 1e6f ? 1e6f : q;
  const float y = nearest(inside) + zero;
  const float kept = y < low ? low : y > high ? high : y;
  return q != q ? low : kept;
}

CAMEO_INLINE int32_t wrapped_sum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

}  // namespace

// A clone per instruction set cannot be a template.
#define ROWS_OF(T, LOW, HIGH)                                                                                      \
  CAMEO_SIMD void quantize_row(const float* x, T* y, int64_t n, float scale, float zero) {                         \
    for (int64_t i = 0; i < n; ++i)                                                                                \
      y[i] = static_cast<T>(static_cast<int32_t>(rounded(x[i] / scale, zero, LOW, HIGH)));                         \
  }                                                                                                                \
  CAMEO_SIMD void quantize_row_per(const float* x, T* y, int64_t n, const float* scale, const float* zero) {       \
    for (int64_t i = 0; i < n; ++i)                                                                                \
      y[i] = static_cast<T>(static_cast<int32_t>(rounded(x[i] / scale[i], zero[i], LOW, HIGH)));                   \
  }                                                                                                                \
  CAMEO_SIMD void dequantize_row(const T* x, float* y, int64_t n, float scale, float zero) {                       \
    for (int64_t i = 0; i < n; ++i) y[i] = (static_cast<float>(x[i]) - zero) * scale;                              \
  }                                                                                                                \
  CAMEO_SIMD void dequantize_row_per(const T* x, float* y, int64_t n, const float* scale, const float* zero) {     \
    for (int64_t i = 0; i < n; ++i) y[i] = (static_cast<float>(x[i]) - zero[i]) * scale[i];                        \
  }                                                                                                                \
  CAMEO_SIMD void requantize_row(const int32_t* sums, const int32_t* bias, const float* scale, T* y, int64_t n,    \
                                 float zero) {                                                                     \
    for (int64_t i = 0; i < n; ++i)                                                                                \
      y[i] = static_cast<T>(static_cast<int32_t>(                                                                  \
          rounded(static_cast<float>(wrapped_sum(sums[i], bias[i])) * scale[i], zero, LOW, HIGH)));                \
  }                                                                                                                \
  CAMEO_SIMD void requantize_row(const int32_t* sums, int32_t bias, float scale, T* y, int64_t n, float zero) {    \
    for (int64_t i = 0; i < n; ++i)                                                                                \
      y[i] = static_cast<T>(                                                                                       \
          static_cast<int32_t>(rounded(static_cast<float>(wrapped_sum(sums[i], bias)) * scale, zero, LOW, HIGH))); \
  }                                                                                                                \
  CAMEO_SIMD void requantize_product_row(const int32_t* sums, const float* scale, T* y, int64_t n, float zero) {   \
    for (int64_t i = 0; i < n; ++i) {                                                                              \
      const double v = static_cast<double>(sums[i]) * static_cast<double>(scale[i]) + static_cast<double>(zero);   \
      const double inside = v < static_cast<double>(LOW)    ? static_cast<double>(LOW)                             \
                            : v > static_cast<double>(HIGH) ? static_cast<double>(HIGH)                            \
                                                            : v;                                                   \
      y[i] = static_cast<T>(static_cast<int32_t>((inside + 6755399441055744.0) - 6755399441055744.0));             \
    }                                                                                                              \
  }                                                                                                                \
  CAMEO_SIMD int32_t sum_bytes_row(const T* x, int64_t n) {                                                        \
    int32_t s = 0;                                                                                                 \
    for (int64_t i = 0; i < n; ++i) s += x[i];                                                                     \
    return s;                                                                                                      \
  }
ROWS_OF(uint8_t, 0.0f, 255.0f)
ROWS_OF(int8_t, -128.0f, 127.0f)
#undef ROWS_OF

CAMEO_SIMD void add_multiple_row(int32_t* sums, const int32_t* each, int32_t factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    sums[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) +
                                   static_cast<uint32_t>(each[i]) * static_cast<uint32_t>(factor));
}

CAMEO_SIMD void to_float_row(const int32_t* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i]);
}

CAMEO_SIMD void widen_range(const float* x, int64_t n, float& bottom, float& top) {
  float low = bottom, high = top;
#pragma omp simd reduction(min : low) reduction(max : high)
  for (int64_t i = 0; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  bottom = low, top = high;
}

}  // namespace cameo::engine
