#include "engine/simd/row_sums.h"

#include "engine/simd/math.h"

namespace cameo::engine {

// `omp simd` allows the additions in another order, which is what makes them vector code; it starts no thread.

CAMEO_SIMD float sum_row(const float* x, int64_t n) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int64_t i = 0; i < n; ++i) s += x[i];
  return s;
}

CAMEO_SIMD float max_row(const float* x, int64_t n) {
  float top = x[0];
  int32_t strange = 0;
#pragma omp simd reduction(max : top) reduction(| : strange)
  for (int64_t i = 0; i < n; ++i) {
    top = x[i] > top ? x[i] : top;
    strange |= x[i] != x[i];
  }
  if (top == -__FLT_MAX__) {  // where some compilers begin, although infinities lie beyond
    top = x[0];
    for (int64_t i = 1; i < n; ++i) top = x[i] > top ? x[i] : top;
  }
  return strange ? __builtin_nanf("") : top;
}

CAMEO_SIMD float min_row(const float* x, int64_t n) {
  float low = x[0];
  int32_t strange = 0;
#pragma omp simd reduction(min : low) reduction(| : strange)
  for (int64_t i = 0; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    strange |= x[i] != x[i];
  }
  if (low == __FLT_MAX__) {  // where some compilers begin, although infinities lie beyond
    low = x[0];
    for (int64_t i = 1; i < n; ++i) low = x[i] < low ? x[i] : low;
  }
  return strange ? __builtin_nanf("") : low;
}

CAMEO_SIMD float sum_squares_row(const float* x, int64_t n, float mean) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int64_t i = 0; i < n; ++i) s += (x[i] - mean) * (x[i] - mean);
  return s;
}

CAMEO_SIMD void normalize_row(const float* x, float* y, int64_t n, float mean, float factor, const float* scale,
                              const float* shift) {
  if (scale && shift)
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor * scale[i] + shift[i];
  else if (scale)
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor * scale[i];
  else
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor;
}

CAMEO_SIMD void normalize_row_by(const float* x, float* y, int64_t n, float mean, float factor, float shift) {
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor + shift;
}

CAMEO_SIMD float exp_row(const float* x, float* y, int64_t n, float factor, float top) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int64_t i = 0; i < n; ++i) {
    const float e = exp_of(x[i] * factor - top);
    y[i] = e;
    s += e;
  }
  return s;
}

CAMEO_SIMD void add_to_row(float* x, const float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] += y[i];
}
CAMEO_SIMD void max_to_row(float* x, const float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] != x[i] || x[i] > y[i] ? x[i] : y[i];
}
CAMEO_SIMD void min_to_row(float* x, const float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = x[i] != x[i] || x[i] < y[i] ? x[i] : y[i];
}

}  // namespace cameo::engine
