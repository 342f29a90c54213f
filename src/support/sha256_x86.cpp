#include "support/sha256_blocks.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace cameo::support::sha256 {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1) && __builtin_cpu_supports("sse4.1") &&
         __builtin_cpu_supports("ssse3");
}

// The instructions hold the eight words as {f, e, b, a} and {h, g, d, c}, lowest lane first, and do four rounds in two
// steps.
__attribute__((target("sha,sse4.1,ssse3"))) void blocks(State& state, const std::byte* data, size_t count) {
  auto* at = reinterpret_cast<__m128i*>(state.data());
  const __m128i dcba = _mm_loadu_si128(at), hgfe = _mm_loadu_si128(at + 1);
  const __m128i badc = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
  __m128i feba = _mm_alignr_epi8(badc, efgh, 8), hgdc = _mm_blend_epi16(efgh, badc, 0xF0);
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  for (; count > 0; --count, data += 64) {
    const __m128i first = feba, second = hgdc;
    __m128i w[4];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i& now = w[i & 3];
      if (i < 4) {
        now = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i), big_endian);
      } else {
        const __m128i last = w[(i + 3) & 3], partial = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) & 3]),
                                                                     _mm_alignr_epi8(last, w[(i + 2) & 3], 4));
        now = _mm_sha256msg2_epu32(partial, last);
      }
      const __m128i sum =
          _mm_add_epi32(now, _mm_loadu_si128(reinterpret_cast<const __m128i*>(round_constants.data()) + i));
      hgdc = _mm_sha256rnds2_epu32(hgdc, feba, sum);
      feba = _mm_sha256rnds2_epu32(feba, hgdc, _mm_shuffle_epi32(sum, 0x0E));
    }
    feba = _mm_add_epi32(feba, first);
    hgdc = _mm_add_epi32(hgdc, second);
  }
  const __m128i abef = _mm_shuffle_epi32(feba, 0x1B), cdgh = _mm_shuffle_epi32(hgdc, 0xB1);
  _mm_storeu_si128(at, _mm_blend_epi16(abef, cdgh, 0xF0));
  _mm_storeu_si128(at + 1, _mm_alignr_epi8(cdgh, abef, 8));
}

}  // namespace

bool blocks_by_instruction(State& state, const std::byte* data, size_t count) {
  static const bool possible = has_instructions();
  if (possible) blocks(state, data, count);
  return possible;
}

#else

bool blocks_by_instruction(State&, const std::byte*, size_t) { return false; }

#endif

}  // namespace cameo::support::sha256
