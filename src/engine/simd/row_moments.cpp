#include "engine/simd/row_moments.h"

#include <algorithm>

#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

constexpr int64_t lanes = 64;  // four vectors of 16: one waits for the last while the next begins

}  // namespace

CAMEO_SIMD RowMoments moments_of_row(const float* x, int64_t n) {
  float low[lanes], high[lanes], sum[lanes], square[lanes];
  for (int64_t j = 0; j < lanes; ++j) low[j] = __builtin_inff(), high[j] = -__builtin_inff(), sum[j] = 0, square[j] = 0;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int64_t j = 0; j < lanes; ++j) {
      const float v = x[i + j];
      low[j] = v < low[j] ? v : low[j];
      high[j] = v > high[j] ? v : high[j];
      sum[j] += v;
      square[j] += v * v;
    }
  for (int64_t j = 0; i < n; ++i, ++j) {
    low[j] = x[i] < low[j] ? x[i] : low[j];
    high[j] = x[i] > high[j] ? x[i] : high[j];
    sum[j] += x[i];
    square[j] += x[i] * x[i];
  }
  RowMoments out{low[0], high[0], sum[0], square[0]};
  for (int64_t j = 1; j < lanes; ++j) {
    out.low = std::min(out.low, low[j]), out.high = std::max(out.high, high[j]);
    out.sum += sum[j], out.square += square[j];
  }
  return out;
}

CAMEO_SIMD void extremes_of_row(const float* x, int64_t n, float* least, float* most) {
  float low[lanes], high[lanes];
  for (int64_t j = 0; j < lanes; ++j) low[j] = __builtin_inff(), high[j] = -__builtin_inff();
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int64_t j = 0; j < lanes; ++j) {
      low[j] = x[i + j] < low[j] ? x[i + j] : low[j];  // false for NaN
      high[j] = x[i + j] > high[j] ? x[i + j] : high[j];
    }
  for (int64_t j = 0; i < n; ++i, ++j) {
    low[j] = x[i] < low[j] ? x[i] : low[j];
    high[j] = x[i] > high[j] ? x[i] : high[j];
  }
  *least = *std::min_element(low, low + lanes);
  *most = *std::max_element(high, high + lanes);
}

CAMEO_SIMD void add_moments_row(const float* x, float* sum, float* square, float* most, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i], size = __builtin_fabsf(v);
    sum[i] += v;
    square[i] += v * v;
    most[i] = size > most[i] ? size : most[i];
  }
}

CAMEO_SIMD void bins_of_row(const float* x, uint16_t* place, int64_t n, LogBins bins) {
  constexpr uint32_t infinity = 0x7f800000;
  const uint32_t below = bins.first - 1, strange = 1 + 2 * bins.each;
  for (int64_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<uint32_t>(x[i]);
    const uint32_t magnitude = bits & 0x7fffffff, key = magnitude >> bins.shift;
    const uint32_t inside = (key < below ? below : key > bins.last ? bins.last : key) - below;
    const uint32_t at = inside + (inside && bits >> 31 ? bins.each : 0);
    place[i] = static_cast<uint16_t>(magnitude >= infinity ? strange : at);
  }
}

CAMEO_SIMD void add_counts_row(uint64_t* sums, const uint16_t* a, const uint16_t* b, int64_t n, uint32_t weight) {
  for (int64_t i = 0; i < n; ++i) sums[i] += (static_cast<uint32_t>(a[i]) + b[i]) * uint64_t{weight};
}

}  // namespace cameo::engine
