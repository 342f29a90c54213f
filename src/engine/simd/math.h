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
  const float a = __builtin_fabsf(x), u = x * x;
  float p = 7.853847e-05f;  // erf(x)/x in x*x, |x| < 1
  p = p * u - 0.0008010189f;
  p = p * u + 0.0051883273f;
  p = p * u - 0.026853811f;
  p = p * u + 0.112835854f;
  p = p * u - 0.37612626f;
  p = p * u + 1.1283791f;
  const float near = p * x;
  const float t = 1.0f / (1.0f + 0.5f * a);  // erfc(x) exp(x*x) in 1/(1 + x/2), 1 <= x < 4.2
  float q = 0.02164316f;
  q = q * t + 0.03371931f;
  q = q * t - 0.3242533f;
  q = q * t + 0.4204228f;
  q = q * t - 0.017583273f;
  q = q * t + 0.31493405f;
  q = q * t + 0.26746833f;
  q = q * t + 0.2838691f;
  q = q * t - 9.347826e-05f;
  const float far = a > 4.2f ? 1.0f : 1.0f - q * exp_of(-u);
  return x != x ? x : a < 1.0f ? near : __builtin_copysignf(far, x);
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
