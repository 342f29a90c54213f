// Functions of one float, without branches, so that loops over them become vector code. Polynomials are least-squares
// fits to relative error on the intervals named; results differ from the exact ones by a few units in the last place.
#pragma once

#include <bit>
#include <cstdint>

#include "support/layers.h"

namespace cameo::engine {

// One function body per instruction set, chosen when the program is loaded.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CAMEO_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CAMEO_SIMD
#endif
#define CAMEO_INLINE inline __attribute__((always_inline))

CAMEO_INLINE float exp_of(float x) {
  const float low = -87.3f, high = 88.72f;
  const float inside = x < low ? low : x > high ? high : x;
  // The sum's low bits hold the nearest whole number, whatever the rounding mode of conversions.
  const float shifted = inside * 1.44269504f + 12582912.0f;
  const float n = shifted - 12582912.0f;
  const float r = (inside - n * 0.693145752f) - n * 1.42860677e-6f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // n reaches 128, which no exponent holds: half of it first.
  const int32_t e = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(12582912.0f), half = e >> 1;
  const float scaled = p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((e - half + 127) << 23);
  const float floor = x < low ? 0.0f : scaled;
  return x > high ? __builtin_inff() : floor;
}

CAMEO_INLINE float sigmoid_of(float x) { return 1.0f / (1.0f + exp_of(-x)); }

CAMEO_INLINE float tanh_of(float x) {
  const float a = __builtin_fabsf(x), u = x * x;
  float p = -0.005852154f;  // tanh(x)/x in x*x, |x| < 0.6
  p = p * u + 0.020753616f;
  p = p * u - 0.0537687f;
  p = p * u + 0.13331689f;
  p = p * u - 0.33333284f;
  const float near = x + x * u * p;
  const float t = exp_of(-2.0f * a), far = (1.0f - t) / (1.0f + t);
  return a < 0.6f ? near : __builtin_copysignf(far, x);
}

CAMEO_INLINE float erf_of(float x) {
  const float end = 3.9192059f;  // from here on it is 1
  const float c = x < -end ? -end : x > end ? end : x, u = c * c;
  float p = 2.0508407e-06f;  // erf(x)/x in x*x, as a quotient
  p = p * u + 0.00028488797f;
  p = p * u + 0.0037642708f;
  p = p * u + 0.052744716f;
  p = p * u + 0.19037041f;
  p = p * u + 1.1283791f;
  float q = 3.8099766e-05f;
  q = q * u + 0.0011622745f;
  q = q * u + 0.014966502f;
  q = q * u + 0.1140949f;
  q = q * u + 0.50204414f;
  q = q * u + 1.0f;
  const float y = c * p / q;
  return y > 1.0f ? 1.0f : y < -1.0f ? -1.0f : y;
}

CAMEO_INLINE float log_of(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  const int32_t e = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
  const float m = std::bit_cast<float>(bits - (static_cast<uint32_t>(e) << 23));  // between sqrt(1/2) and sqrt(2)
  const float s = (m - 1.0f) / (m + 1.0f), u = s * s;
  float p = 2.0f / 9;
  p = p * u + 2.0f / 7;
  p = p * u + 2.0f / 5;
  p = p * u + 2.0f / 3;
  const float whole = static_cast<float>(e) - (tiny ? 23.0f : 0.0f);
  const float value = whole * 0.693145752f + (s * 2.0f + (s * u * p + whole * 1.42860677e-6f));
  const float low = x == 0.0f ? -__builtin_inff() : x < 0.0f ? __builtin_nanf("") : value;
  return x == __builtin_inff() || x != x ? x : low;
}

}  // namespace cameo::engine
