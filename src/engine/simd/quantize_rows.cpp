#include "engine/simd/quantize_rows.h"

#include "engine/simd/intrinsics.h"
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

#if defined(__x86_64__) && defined(__GNUC__)
#define CAMEO_BYTES __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

CAMEO_BYTES inline __m512i packed(__m512i low, __m512i high, const uint8_t*) { return _mm512_packus_epi16(low, high); }
CAMEO_BYTES inline __m512i packed(__m512i low, __m512i high, const int8_t*) { return _mm512_packs_epi16(low, high); }

// As many of the numbers as fill registers. What no whole number of 32 bits is, and NaN, becomes the lowest; large ones
// are kept from that. Packing saturates.
template <class T>
CAMEO_BYTES int64_t quantize_64(const float* x, T* y, int64_t n, float scale, float zero) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i shift = _mm512_set1_epi16(static_cast<int16_t>(zero));
  const __m512 by = _mm512_set1_ps(scale), most = _mm512_set1_ps(1e6f);
  const auto at = [&](const float* from) CAMEO_BYTES {
    return _mm512_cvtps_epi32(_mm512_min_ps(most, _mm512_div_ps(_mm512_loadu_ps(from), by)));
  };
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i low = _mm512_packs_epi32(at(x + i), at(x + i + 16)),
                  high = _mm512_packs_epi32(at(x + i + 32), at(x + i + 48));
    const __m512i bytes = packed(_mm512_adds_epi16(low, shift), _mm512_adds_epi16(high, shift), y);
    _mm512_storeu_si512(y + i, _mm512_permutexvar_epi32(order, bytes));
  }
  return i;
}
bool has_quantize_64() {
  static const bool has =
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has;
}
#else
template <class T>
int64_t quantize_64(const float*, T*, int64_t, float, float) {
  return 0;
}
bool has_quantize_64() { return false; }
#endif

}  // namespace

// A clone per instruction set cannot be a template.
#define ROWS_OF(T, LOW, HIGH)                                                                                      \
  CAMEO_SIMD void quantize_row(const float* x, T* y, int64_t n, float scale, float zero) {                         \
    for (int64_t i = has_quantize_64() ? quantize_64(x, y, n, scale, zero) : 0; i < n; ++i)                        \
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
