#include "engine/simd/row_moments.h"

#include <algorithm>

#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

constexpr int64_t lanes = 64;  // four vectors of 16: one waits for the last while the next begins

// Thirteen digits of the logarithm of a positive normal number.
CAMEO_INLINE double log_of(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const int64_t e = static_cast<int64_t>(bits - 0x3fe6a09e667f3bcd) >> 52;
  const double m = std::bit_cast<double>(bits - (static_cast<uint64_t>(e) << 52));  // between sqrt(1/2) and sqrt(2)
  const double s = (m - 1) / (m + 1), u = s * s;
  double p = 2.0 / 17;
  p = p * u + 2.0 / 15;
  p = p * u + 2.0 / 13;
  p = p * u + 2.0 / 11;
  p = p * u + 2.0 / 9;
  p = p * u + 2.0 / 7;
  p = p * u + 2.0 / 5;
  p = p * u + 2.0 / 3;
  // The low bits of 1.5 * 2^52 hold a whole number: no conversion, which not every instruction set has.
  const double whole =
      std::bit_cast<double>(0x4338000000000000 + static_cast<uint64_t>(e)) - std::bit_cast<double>(0x4338000000000000);
  return whole * 0.693147180559945309 + (2 * s + s * u * p);
}

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

CAMEO_SIMD void add_moments_row(const float* x, float* sum, float* square, float* low, float* high, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i];
    sum[i] += v;
    square[i] += v * v;
    low[i] = v < low[i] ? v : low[i];
    high[i] = v > high[i] ? v : high[i];
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

CAMEO_SIMD double sum_of_logs_row(const double* factor, const double* x, int64_t n) {
  constexpr int64_t wide = 16;
  double sum[wide] = {};
  int64_t i = 0;
  for (; i + wide <= n; i += wide)
    for (int64_t j = 0; j < wide; ++j) sum[j] += factor[i + j] * log_of(x[i + j]);
  for (int64_t j = 0; i < n; ++i, ++j) sum[j] += factor[i] * log_of(x[i]);
  double out = 0;
  for (const double part : sum) out += part;
  return out;
}

CAMEO_SIMD double rounding_errors_row(const float* x, const float* factor, int64_t n, float inverse, float least,
                                      float most) {
  constexpr float shift = 12582912.0f;  // 1.5 * 2^23: the sum's low bits hold the nearest whole number
  constexpr int64_t wide = 32, exact = 64;
  double out = 0;
  for (int64_t from = 0; from < n; from += wide * exact) {
    const int64_t to = n - from < wide * exact ? n : from + wide * exact;
    float sum[wide] = {};
    for (int64_t i = from; i < to; i += wide)
      for (int64_t j = 0; j < wide; ++j) {
        const bool there = i + j < to;
        const float v = there ? x[i + j] * inverse : 0, f = there ? factor[i + j] : 0;
        const float inside = v < least ? least : v > most ? most : v, d = ((inside + shift) - shift) - v;
        sum[j] += d * d * f;
      }
    for (const float part : sum) out += static_cast<double>(part);
  }
  return out;
}

CAMEO_SIMD void add_counts_row(uint64_t* sums, const uint16_t* a, const uint16_t* b, int64_t n, uint32_t weight) {
  for (int64_t i = 0; i < n; ++i) sums[i] += (static_cast<uint32_t>(a[i]) + b[i]) * uint64_t{weight};
}

}  // namespace cameo::engine
