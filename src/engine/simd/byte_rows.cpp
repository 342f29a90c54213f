#include "engine/simd/byte_rows.h"

#include <cstring>

#include "engine/simd/intrinsics.h"
#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

#if defined(__x86_64__) && defined(__GNUC__)
// Four registers hold the table: two look at half of it each by the lower seven bits, the highest chooses.
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) int64_t look_up_64(const uint8_t* x, uint8_t* y, int64_t n,
                                                                          const uint8_t* table) {
  const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64),
                t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i at = _mm512_loadu_si512(x + i);
    const __m512i lower = _mm512_permutex2var_epi8(t0, at, t1), upper = _mm512_permutex2var_epi8(t2, at, t3);
    _mm512_storeu_si512(y + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), lower, upper));
  }
  return i;
}
#define CAMEO_BYTES __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))

CAMEO_BYTES inline __m512 numbers(const uint8_t* x, uint8_t flip) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_xor_si128(bytes, _mm_set1_epi8(static_cast<char>(flip)))));
}

template <bool adds>
CAMEO_BYTES inline __m512i sixteen(const uint8_t* x1, const uint8_t* x2, const ByteBinary& p) {
  const __m512 a = numbers(x1, p.a_flip), b = numbers(x2, p.b_flip), by = _mm512_set1_ps(p.a);
  const __m512 v = adds ? _mm512_fmadd_ps(a, by, _mm512_fmadd_ps(b, _mm512_set1_ps(p.b), _mm512_set1_ps(p.rest)))
                        : _mm512_mul_ps(_mm512_mul_ps(_mm512_sub_ps(a, _mm512_set1_ps(p.a_zero)),
                                                      _mm512_sub_ps(b, _mm512_set1_ps(p.b_zero))),
                                        by);
  return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(p.high), v));
}

// As many of the elements as fill registers; packing keeps inside the bytes what lies below.
template <bool adds>
CAMEO_BYTES int64_t binary_64(const uint8_t* x1, const uint8_t* x2, uint8_t* y, int64_t n, const ByteBinary& p) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i zero = _mm512_set1_epi16(static_cast<int16_t>(p.zero)),
                least = _mm512_set1_epi8(static_cast<char>(static_cast<int32_t>(p.low) + p.zero)),
                flip = _mm512_set1_epi8(static_cast<char>(p.y_flip));
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i low =
                      _mm512_packs_epi32(sixteen<adds>(x1 + i, x2 + i, p), sixteen<adds>(x1 + i + 16, x2 + i + 16, p)),
                  high = _mm512_packs_epi32(sixteen<adds>(x1 + i + 32, x2 + i + 32, p),
                                            sixteen<adds>(x1 + i + 48, x2 + i + 48, p));
    const __m512i bytes = _mm512_packus_epi16(_mm512_adds_epi16(low, zero), _mm512_adds_epi16(high, zero));
    _mm512_storeu_si512(y + i, _mm512_xor_si512(_mm512_max_epu8(_mm512_permutexvar_epi32(order, bytes), least), flip));
  }
  return i;
}
CAMEO_BYTES void twice_32(const uint8_t* x, uint8_t* y, uint8_t* again, int64_t n) {
  for (int64_t i = 0; i < n; i += 32) {
    const auto mask = static_cast<__mmask32>(n - i >= 32 ? ~__mmask32{0} : (__mmask32{1} << (n - i)) - 1);
    const auto both = n - i >= 32 ? ~__mmask64{0} : (__mmask64{1} << (2 * (n - i))) - 1;
    const __m512i words = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(mask, x + i));
    const __m512i bytes = _mm512_or_si512(words, _mm512_slli_epi16(words, 8));
    _mm512_mask_storeu_epi8(y + 2 * i, both, bytes);
    if (again) _mm512_mask_storeu_epi8(again + 2 * i, both, bytes);
  }
}
bool has_binary() {
  static const bool has =
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has;
}
bool has_look_up() {
  static const bool has = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw");
  return has;
}
#else
int64_t look_up_64(const uint8_t*, uint8_t*, int64_t, const uint8_t*) { return 0; }
bool has_look_up() { return false; }
template <bool adds>
int64_t binary_64(const uint8_t*, const uint8_t*, uint8_t*, int64_t, const ByteBinary&) {
  return 0;
}
bool has_binary() { return false; }
void twice_32(const uint8_t*, uint8_t*, uint8_t*, int64_t) {}
#endif

// The nearest whole number, ties to even, of what lies inside the bytes.
CAMEO_INLINE uint8_t rounded_byte(float v, const ByteBinary& p) {
  const float inside = v < p.low ? p.low : v > p.high ? p.high : v;
  const float whole = (inside + 12582912.0f) - 12582912.0f;
  return static_cast<uint8_t>(static_cast<uint8_t>(static_cast<int32_t>(whole) + p.zero) ^ p.y_flip);
}

}  // namespace

void look_up_row(const uint8_t* x, uint8_t* y, int64_t n, const ByteTable& table) {
  int64_t i = has_look_up() ? look_up_64(x, y, n, table.data()) : 0;
  for (; i < n; ++i) y[i] = table[x[i]];
}

void twice_row(const uint8_t* x, uint8_t* y, uint8_t* again, int64_t n) {
  if (has_binary()) return twice_32(x, y, again, n);
  for (int64_t i = 0; i < n; ++i) y[2 * i] = y[2 * i + 1] = x[i];
  if (again) std::memcpy(again, y, static_cast<size_t>(2 * n));
}

void add_bytes_row(const uint8_t* x1, const uint8_t* x2, uint8_t* y, int64_t n, const ByteBinary& p) {
  for (int64_t i = has_binary() ? binary_64<true>(x1, x2, y, n, p) : 0; i < n; ++i) {
    const auto a = static_cast<float>(x1[i] ^ p.a_flip), b = static_cast<float>(x2[i] ^ p.b_flip);
    y[i] = rounded_byte(a * p.a + (b * p.b + p.rest), p);
  }
}

void multiply_bytes_row(const uint8_t* x1, const uint8_t* x2, uint8_t* y, int64_t n, const ByteBinary& p) {
  for (int64_t i = has_binary() ? binary_64<false>(x1, x2, y, n, p) : 0; i < n; ++i) {
    const auto a = static_cast<float>(x1[i] ^ p.a_flip), b = static_cast<float>(x2[i] ^ p.b_flip);
    y[i] = rounded_byte((a - p.a_zero) * (b - p.b_zero) * p.a, p);
  }
}

}  // namespace cameo::engine
