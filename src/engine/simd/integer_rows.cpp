#include "engine/simd/integer_rows.h"

#include "engine/simd/intrinsics.h"
#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

void plain_product(const int16_t* a, int64_t a_row, int64_t rows, const int16_t* panel, int64_t pairs, int32_t* sums,
                   int64_t row) {
  for (int64_t i = 0; i < rows; ++i) {
    int32_t s[panel_columns] = {};
    for (int64_t k = 0; k < pairs; ++k)
      for (int64_t j = 0; j < panel_columns; ++j)
        s[j] += a[i * a_row + 2 * k] * panel[(k * panel_columns + j) * 2] +
                a[i * a_row + 2 * k + 1] * panel[(k * panel_columns + j) * 2 + 1];
    for (int64_t j = 0; j < panel_columns; ++j) sums[i * row + j] = s[j];
  }
}

#if defined(__x86_64__) && defined(__GNUC__)
// `rows` rows at a time: two registers of sums each, so that 6 rows, two registers of columns and a pair fill the 16
// there are.
template <int rows>
__attribute__((target("avx2"), always_inline)) inline void avx2_rows(const int16_t* a, int64_t a_row,
                                                                     const int16_t* panel, int64_t pairs, int32_t* sums,
                                                                     int64_t row) {
  __m256i s[rows][2];
  for (int i = 0; i < rows; ++i) s[i][0] = s[i][1] = _mm256_setzero_si256();
  for (int64_t k = 0; k < pairs; ++k) {
    const auto* column = reinterpret_cast<const __m256i*>(panel + k * 2 * panel_columns);
    const __m256i left = _mm256_loadu_si256(column), right = _mm256_loadu_si256(column + 1);
    for (int i = 0; i < rows; ++i) {
      int32_t pair;
      __builtin_memcpy(&pair, a + i * a_row + 2 * k, sizeof pair);
      const __m256i both = _mm256_set1_epi32(pair);
      s[i][0] = _mm256_add_epi32(s[i][0], _mm256_madd_epi16(both, left));
      s[i][1] = _mm256_add_epi32(s[i][1], _mm256_madd_epi16(both, right));
    }
  }
  for (int i = 0; i < rows; ++i) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + i * row), s[i][0]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + i * row + 8), s[i][1]);
  }
}

__attribute__((target("avx2"))) void avx2_product(const int16_t* a, int64_t a_row, int64_t rows, const int16_t* panel,
                                                  int64_t pairs, int32_t* sums, int64_t row) {
  int64_t i = 0;
  for (; i + 6 <= rows; i += 6) avx2_rows<6>(a + i * a_row, a_row, panel, pairs, sums + i * row, row);
  if (i + 4 <= rows) avx2_rows<4>(a + i * a_row, a_row, panel, pairs, sums + i * row, row), i += 4;
  if (i + 2 <= rows) avx2_rows<2>(a + i * a_row, a_row, panel, pairs, sums + i * row, row), i += 2;
  if (i < rows) avx2_rows<1>(a + i * a_row, a_row, panel, pairs, sums + i * row, row);
}
#endif

}  // namespace

void panel_product(const int16_t* a, int64_t a_row, int64_t rows, const int16_t* panel, int64_t pairs, int32_t* sums,
                   int64_t row) {
#if defined(__x86_64__) && defined(__GNUC__)
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2) return avx2_product(a, a_row, rows, panel, pairs, sums, row);
#endif
  plain_product(a, a_row, rows, panel, pairs, sums, row);
}

void two_taps(const int16_t* a, const int16_t* b, int16_t* y, int64_t n, int64_t step) {
#if defined(__x86_64__) && defined(__GNUC__)
  for (; step == 1 && n >= 8; n -= 8, a += 8, b += 8, y += 16) {
    const __m128i left = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a)),
                  right = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y), _mm_unpacklo_epi16(left, right));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + 8), _mm_unpackhi_epi16(left, right));
  }
#endif
  for (int64_t i = 0; i < n; ++i) y[2 * i] = a[i * step], y[2 * i + 1] = b[i * step];
}

CAMEO_SIMD void centre_row(const uint8_t* x, int16_t* y, int64_t n, int32_t zero) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(x[i] - zero);
}

CAMEO_SIMD void centre_row(const int8_t* x, int16_t* y, int64_t n, int32_t zero) {
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(x[i] - zero);
}

}  // namespace cameo::engine
