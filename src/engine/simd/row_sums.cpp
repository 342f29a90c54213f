#include "engine/simd/row_sums.h"

#include <cmath>

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

CAMEO_SIMD bool is_finite_row(const float* x, int64_t n) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int64_t i = 0; i < n; ++i) s += x[i] * 0.0f;
  return s == 0;
}

double sum_row_exactly(const float* x, int64_t n, int64_t step) {
  double s = 0;
  for (int64_t i = 0; i < n; ++i) s += static_cast<double>(x[i * step]);
  return s;
}

namespace {

CAMEO_SIMD float sum_squares_row(const float* x, int64_t n, float mean) {
  float s = 0;
#pragma omp simd reduction(+ : s)
  for (int64_t i = 0; i < n; ++i) s += (x[i] - mean) * (x[i] - mean);
  return s;
}

RowScale scale_of_row_exactly(const float* x, int64_t n, float epsilon, bool centred) {
  const auto count = static_cast<double>(n);
  const double mean = centred ? sum_row_exactly(x, n) / count : 0;
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double d = static_cast<double>(x[i]) - mean;
    squares += d * d;
  }
  const double factor = 1 / std::sqrt(squares / count + static_cast<double>(epsilon));
  return {static_cast<float>(mean), static_cast<float>(factor)};
}

}  // namespace

RowScale scale_of_row(const float* x, int64_t n, float epsilon, bool centred) {
  const auto count = static_cast<float>(n);
  const float mean = centred ? sum_row(x, n) / count : 0.0f;
  const float spread = sum_squares_row(x, n, mean) / count + epsilon;
  // Squares of numbers above 1e19 and below 1e-19 are no numbers of f32; ONNX means the real ones.
  if (!(spread > 1e-30f && spread <= __FLT_MAX__)) return scale_of_row_exactly(x, n, epsilon, centred);
  return {mean, 1.0f / std::sqrt(spread)};
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
