#include "engine/simd/window_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

typedef float Block __attribute__((vector_size(64)));  // as many registers as the processor needs for it
constexpr int64_t block = sizeof(Block) / sizeof(float);
typedef float Half __attribute__((vector_size(32)));

// Vectors are written through references: returning them would depend on the clone.
template <class V>
CAMEO_INLINE void load(const float* p, V& v) {
  std::memcpy(&v, p, sizeof v);
}

template <class V>
CAMEO_INLINE void weighted(const float* x, const int64_t* taps, const float* weights, int64_t count, float start,
                           V& s) {
  V v;
  s = V{} + start;
  for (int64_t t = 0; t < count; ++t) load(x + taps[t], v), s += weights[t] * v;
}

template <class V>
CAMEO_INLINE void largest(const float* x, const int64_t* taps, int64_t count, V& s) {
  V v;
  load(x + taps[0], s);
  for (int64_t t = 1; t < count; ++t) {
    load(x + taps[t], v);
    s = ((v > s) | (v != v)) ? v : s;
  }
}

template <class V>
CAMEO_INLINE void added(const float* x, const int64_t* taps, int64_t count, V& s) {
  V v;
  load(x + taps[0], s);
  for (int64_t t = 1; t < count; ++t) load(x + taps[t], v), s += v;
}

}  // namespace

// Whole blocks; then what is left, of which only the results that were asked for are kept.
#define WINDOWS(windows)                                                                     \
  int64_t i = 0;                                                                             \
  for (Block s; i + block <= n; i += block) {                                                \
    windows;                                                                                 \
    std::memcpy(y + i, &s, sizeof s);                                                        \
  }                                                                                          \
  for (Half s; i < n; i += block / 2) {                                                      \
    windows;                                                                                 \
    std::memcpy(y + i, &s, static_cast<size_t>(std::min(block / 2, n - i)) * sizeof(float)); \
  }

CAMEO_SIMD void weighted_windows(const float* x, const int64_t* taps, const float* weights, int64_t count, float start,
                                 float* y, int64_t n){WINDOWS(weighted(x + i, taps, weights, count, start, s))}

CAMEO_SIMD void largest_of_windows(const float* x, const int64_t* taps, int64_t count, float* y,
                                   int64_t n){WINDOWS(largest(x + i, taps, count, s))}

CAMEO_SIMD void sum_of_windows(const float* x, const int64_t* taps, int64_t count, float* y, int64_t n) {
  WINDOWS(added(x + i, taps, count, s))
}
#undef WINDOWS

void copy_taps(const float* x, const int64_t* taps, int64_t count, int64_t n, float* out, int64_t row) {
  const auto copy = [&](auto length) {
    for (int64_t k = 0; k < count; ++k, out += row)
      std::memcpy(out, x + taps[k], static_cast<size_t>(length) * sizeof(float));
  };
  // The ends of rows, where a call would take longer than the moves.
  const auto copy_short = [&] {
    for (int64_t k = 0; k < count; ++k, out += row) {
      const float* from = x + taps[k];
      float* to = out;
      if (n & 4) std::memcpy(to, from, 4 * sizeof(float)), to += 4, from += 4;
      if (n & 2) std::memcpy(to, from, 2 * sizeof(float)), to += 2, from += 2;
      if (n & 1) *to = *from;
    }
  };
  // The usual lengths are known to the compiler: they become one or a few moves.
  if (n < 8) copy_short();
  else if (n == 8) copy(std::integral_constant<int64_t, 8>());
  else if (n == 16) copy(std::integral_constant<int64_t, 16>());
  else if (n == 32) copy(std::integral_constant<int64_t, 32>());
  else copy(n);
}

}  // namespace cameo::engine
