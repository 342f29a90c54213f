#include "engine/simd/vnni_rows.h"

#include <algorithm>
#include <cstring>

#include "engine/simd/intrinsics.h"

namespace cameo::engine {

#if defined(__x86_64__) && defined(__GNUC__)

#define CAMEO_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

// So that arrays of registers stay in registers.
#define CAMEO_UNROLL _Pragma("GCC unroll 16")

namespace {

// `height` rows by `width` registers of sums stay in registers.
template <int width, int height>
CAMEO_VNNI void tile(const uint8_t* const* rows, const VnniRuns& runs, const int8_t* w, const int32_t* start,
                     int32_t* sums, int64_t stride) {
  __m512i s[height][width];
  CAMEO_UNROLL for (int j = 0; j < width; ++j) {
    const __m512i first = _mm512_loadu_si512(start + j * vnni_lanes);
    CAMEO_UNROLL for (int i = 0; i < height; ++i) s[i][j] = first;
  }
  for (const int64_t offset : runs.offsets) {
    const uint8_t* x[height];
    CAMEO_UNROLL for (int i = 0; i < height; ++i) x[i] = rows[i] + offset;
    for (int64_t k = 0; k < runs.steps; ++k, w += width * 64) {
      __m512i columns[width];
      CAMEO_UNROLL for (int j = 0; j < width; ++j) columns[j] = _mm512_loadu_si512(w + j * 64);
      CAMEO_UNROLL for (int i = 0; i < height; ++i) {
        int32_t four;
        std::memcpy(&four, x[i] + 4 * k, sizeof four);
        const __m512i bytes = _mm512_set1_epi32(four);
        CAMEO_UNROLL for (int j = 0; j < width; ++j) s[i][j] = _mm512_dpbusd_epi32(s[i][j], bytes, columns[j]);
      }
    }
  }
  CAMEO_UNROLL for (int i = 0; i < height; ++i) CAMEO_UNROLL for (int j = 0; j < width; ++j)
      _mm512_storeu_si512(sums + i * stride + j * vnni_lanes, s[i][j]);
}

using Tile = void (*)(const uint8_t* const*, const VnniRuns&, const int8_t*, const int32_t*, int32_t*, int64_t);
struct Form {
  int64_t height;
  Tile many, one;
};
// By width. Heights divide vnni_rows_max; with sums, columns and a row's bytes they fill the 32 registers.
constexpr Form forms[] = {{12, tile<1, 12>, tile<1, 1>},
                          {12, tile<2, 12>, tile<2, 1>},
                          {8, tile<3, 8>, tile<3, 1>},
                          {6, tile<4, 6>, tile<4, 1>}};

// Whole numbers that saturate on the way to bytes. What no whole number of 32 bits is, and NaN, becomes the lowest;
// large ones are kept from that.
template <bool has_bias>
CAMEO_VNNI inline __m512i rounded(const int32_t* sums, const int32_t* bias, const float* scale) {
  __m512i sum = _mm512_loadu_si512(sums);
  if constexpr (has_bias) sum = _mm512_add_epi32(sum, _mm512_loadu_si512(bias));
  const __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_loadu_ps(scale));
  return _mm512_cvtps_epi32(_mm512_min_ps(_mm512_set1_ps(1e6f), v));
}

CAMEO_VNNI inline __m512i packed(__m512i low, __m512i high, uint8_t*) { return _mm512_packus_epi16(low, high); }
CAMEO_VNNI inline __m512i packed(__m512i low, __m512i high, int8_t*) { return _mm512_packs_epi16(low, high); }

template <bool has_bias, class T>
CAMEO_VNNI inline __m512i sixty_four(const int32_t* s, const int32_t* b, const float* f, T* y, __m512i shift) {
  // Packing works in quarters of registers: this puts the words in order again.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const auto at = [&](int i) CAMEO_VNNI { return rounded<has_bias>(s + i, has_bias ? b + i : b, f + i); };
  const __m512i low = _mm512_packs_epi32(at(0), at(16)), high = _mm512_packs_epi32(at(32), at(48));
  const __m512i bytes = packed(_mm512_adds_epi16(low, shift), _mm512_adds_epi16(high, shift), y);
  return _mm512_permutexvar_epi32(order, bytes);
}

// The first `n` bytes of a register, n < 64.
CAMEO_VNNI inline void store_some(void* y, __m512i bytes, int64_t n) {
  auto* to = static_cast<std::byte*>(y);
  if (n & 32) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(bytes));
    bytes = _mm512_shuffle_i64x2(bytes, bytes, 0xee);
    to += 32;
  }
  if (n & 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_castsi512_si128(bytes));
    bytes = _mm512_shuffle_i64x2(bytes, bytes, 0x39);
    to += 16;
  }
  if (n & 15) {
    alignas(16) std::byte last[16];
    _mm_store_si128(reinterpret_cast<__m128i*>(last), _mm512_castsi512_si128(bytes));
    std::memcpy(to, last, static_cast<size_t>(n & 15));
  }
}

template <class T>
CAMEO_VNNI inline void requantize_rows(const int32_t* sums, int64_t stride, int64_t rows, const float* scale, T* y,
                                       int64_t n, float zero) {
  const __m512i shift = _mm512_set1_epi16(static_cast<int16_t>(zero));
  for (int64_t r = 0; r < rows; ++r, sums += stride, y += n) {
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) _mm512_storeu_si512(y + i, sixty_four<false>(sums + i, nullptr, scale + i, y, shift));
    if (i < n) store_some(y + i, sixty_four<false>(sums + i, nullptr, scale + i, y, shift), n - i);
  }
}

template <bool has_bias, class T>
CAMEO_VNNI inline void requantize(const int32_t* sums, const int32_t* bias, const float* scale, T* y, int64_t n,
                                  float zero) {
  const __m512i shift = _mm512_set1_epi16(static_cast<int16_t>(zero));
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
    _mm512_storeu_si512(y + i, sixty_four<has_bias>(sums + i, has_bias ? bias + i : nullptr, scale + i, y, shift));
  if (i == n) return;
  int32_t last_sums[64] = {}, last_bias[64] = {};
  float last_scale[64] = {};
  const auto rest = static_cast<size_t>(n - i);
  std::memcpy(last_sums, sums + i, rest * sizeof(int32_t));
  if (has_bias) std::memcpy(last_bias, bias + i, rest * sizeof(int32_t));
  std::memcpy(last_scale, scale + i, rest * sizeof(float));
  store_some(y + i, sixty_four<has_bias>(last_sums, last_bias, last_scale, y, shift), n - i);
}

template <bool past_cache>
CAMEO_VNNI inline void store_line(int32_t* y, __m512i v) {
  if constexpr (past_cache) _mm512_stream_si512(reinterpret_cast<__m512i*>(y), v);
  else _mm512_storeu_si512(y, v);
}

// Four rounds: words, pairs of words, then quarters of registers.
template <bool past_cache>
CAMEO_VNNI void transpose_16(const int32_t* x, int64_t x_row, int32_t* y, int64_t y_row) {
  __m512i a[16], b[16];
  for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(x + i * x_row);
  for (int i = 0; i < 8; ++i) {
    b[2 * i] = _mm512_unpacklo_epi32(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm512_unpackhi_epi32(a[2 * i], a[2 * i + 1]);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j) {
      a[4 * i + 2 * j] = _mm512_unpacklo_epi64(b[4 * i + j], b[4 * i + 2 + j]);
      a[4 * i + 2 * j + 1] = _mm512_unpackhi_epi64(b[4 * i + j], b[4 * i + 2 + j]);
    }
  // a[4 * i + j] has column 4 * q + j of rows 4 * i to 4 * i + 3 in quarter q.
  for (int j = 0; j < 4; ++j) {
    const __m512i even = _mm512_shuffle_i32x4(a[j], a[4 + j], 0x88), odd = _mm512_shuffle_i32x4(a[j], a[4 + j], 0xdd),
                  even2 = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0x88),
                  odd2 = _mm512_shuffle_i32x4(a[8 + j], a[12 + j], 0xdd);
    store_line<past_cache>(y + j * y_row, _mm512_shuffle_i32x4(even, even2, 0x88));
    store_line<past_cache>(y + (8 + j) * y_row, _mm512_shuffle_i32x4(even, even2, 0xdd));
    store_line<past_cache>(y + (4 + j) * y_row, _mm512_shuffle_i32x4(odd, odd2, 0x88));
    store_line<past_cache>(y + (12 + j) * y_row, _mm512_shuffle_i32x4(odd, odd2, 0xdd));
  }
}

// Four taps of 64 channels: each register has, for four channels in each quarter, a channel's four bytes together.
struct FourTaps {
  __m512i quarter[4];

  CAMEO_VNNI FourTaps(__m512i a, __m512i b, __m512i c, __m512i d) {
    const __m512i ab_low = _mm512_unpacklo_epi8(a, b), ab_high = _mm512_unpackhi_epi8(a, b),
                  cd_low = _mm512_unpacklo_epi8(c, d), cd_high = _mm512_unpackhi_epi8(c, d);
    quarter[0] = _mm512_unpacklo_epi16(ab_low, cd_low), quarter[1] = _mm512_unpackhi_epi16(ab_low, cd_low);
    quarter[2] = _mm512_unpacklo_epi16(ab_high, cd_high), quarter[3] = _mm512_unpackhi_epi16(ab_high, cd_high);
  }
};

// Quarter q of register r to quarter r of register q: the channels in order.
CAMEO_VNNI inline void put_in_order(__m512i* s) {
  const __m512i a = _mm512_shuffle_i32x4(s[0], s[1], 0x44), b = _mm512_shuffle_i32x4(s[0], s[1], 0xee),
                c = _mm512_shuffle_i32x4(s[2], s[3], 0x44), d = _mm512_shuffle_i32x4(s[2], s[3], 0xee);
  s[0] = _mm512_shuffle_i32x4(a, c, 0x88), s[1] = _mm512_shuffle_i32x4(a, c, 0xdd);
  s[2] = _mm512_shuffle_i32x4(b, d, 0x88), s[3] = _mm512_shuffle_i32x4(b, d, 0xdd);
}

// `known`: how many taps there are, so that the loop over them is unrolled; 0: any number.
template <bool has_zeros, int64_t known>
CAMEO_VNNI void channel_sums(const uint8_t* const* rows, int64_t count, const VnniChannels& c, const int32_t* start,
                             int32_t* sums) {
  const int64_t taps = known ? known : static_cast<int64_t>(c.offsets.size()), *const offsets = c.offsets.data();
  for (int64_t at = 0; at < c.channels; at += 64) {
    const __mmask64 mask = c.channels - at >= 64 ? ~__mmask64{0} : (__mmask64{1} << (c.channels - at)) - 1;
    for (int64_t i = 0; i < count; ++i) {
      __m512i s[4], bytes[4];
      CAMEO_UNROLL for (int r = 0; r < 4; ++r) s[r] = bytes[r] = _mm512_setzero_si512();
      const uint8_t* x = rows[i] + at;
      _Pragma("GCC unroll 3") for (int64_t t = 0; t < taps; t += 4) {
        const auto tap = [&](int64_t k) CAMEO_VNNI {
          return k < taps ? _mm512_maskz_loadu_epi8(mask, x + offsets[k]) : _mm512_setzero_si512();
        };
        const FourTaps four(tap(t), tap(t + 1), tap(t + 2), tap(t + 3));
        const int8_t* w = c.weights + (t / 4 * c.stride + at) * 4;
        CAMEO_UNROLL for (int r = 0; r < 4; ++r) {
          s[r] = _mm512_dpbusd_epi32(s[r], four.quarter[r], _mm512_loadu_si512(w + 64 * r));
          if constexpr (has_zeros) bytes[r] = _mm512_dpbusd_epi32(bytes[r], four.quarter[r], _mm512_set1_epi8(1));
        }
      }
      put_in_order(s);
      if constexpr (has_zeros) put_in_order(bytes);
      CAMEO_UNROLL for (int r = 0; r < 4; ++r) {
        __m512i v = _mm512_add_epi32(s[r], _mm512_loadu_si512(start + at + 16 * r));
        if constexpr (has_zeros)
          v = _mm512_sub_epi32(v, _mm512_mullo_epi32(bytes[r], _mm512_loadu_si512(c.zeros + at + 16 * r)));
        _mm512_storeu_si512(sums + i * c.stride + at + 16 * r, v);
      }
    }
  }
}

}  // namespace

bool has_vnni() {
  static const bool has = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has;
}

void vnni_channels(const uint8_t* const* rows, int64_t count, const VnniChannels& c, const int32_t* start,
                   int32_t* sums) {
  const bool nine = c.offsets.size() == 9;
  if (c.zeros) (nine ? channel_sums<true, 9> : channel_sums<true, 0>)(rows, count, c, start, sums);
  else (nine ? channel_sums<false, 9> : channel_sums<false, 0>)(rows, count, c, start, sums);
}

void vnni_products(const uint8_t* const* rows, int64_t count, const VnniRuns& runs, const VnniPanel& panel,
                   const int8_t* weights, const int32_t* start, int32_t* sums, int64_t stride) {
  const Form& form = forms[panel.registers - 1];
  for (int64_t i = 0; i < count;) {
    const bool one = count - i == 1;
    (one ? form.one : form.many)(rows + i, runs, weights + panel.offset, start + panel.first,
                                 sums + i * stride + panel.first, stride);
    i += one ? 1 : form.height;
  }
}

CAMEO_VNNI void vnni_requantize(const int32_t* sums, const int32_t* bias, const float* scale, uint8_t* y, int64_t n,
                                float zero) {
  if (bias) requantize<true>(sums, bias, scale, y, n, zero);
  else requantize<false>(sums, bias, scale, y, n, zero);
}
CAMEO_VNNI void vnni_requantize(const int32_t* sums, const int32_t* bias, const float* scale, int8_t* y, int64_t n,
                                float zero) {
  if (bias) requantize<true>(sums, bias, scale, y, n, zero);
  else requantize<false>(sums, bias, scale, y, n, zero);
}

CAMEO_VNNI void vnni_requantize_rows(const int32_t* sums, int64_t stride, int64_t rows, const float* scale, uint8_t* y,
                                     int64_t n, float zero) {
  requantize_rows(sums, stride, rows, scale, y, n, zero);
}
CAMEO_VNNI void vnni_requantize_rows(const int32_t* sums, int64_t stride, int64_t rows, const float* scale, int8_t* y,
                                     int64_t n, float zero) {
  requantize_rows(sums, stride, rows, scale, y, n, zero);
}

void vnni_transpose(const int32_t* x, int64_t x_row, int32_t* y, int64_t y_row, int64_t rows, int64_t columns,
                    bool past_cache) {
  const bool lines = past_cache && reinterpret_cast<uintptr_t>(y) % 64 == 0 && y_row % vnni_lanes == 0;
  for (int64_t i = 0; i < rows; i += vnni_lanes)
    for (int64_t j = 0; j < columns; j += vnni_lanes) {
      const int32_t* from = x + i * x_row + j;
      int32_t* to = y + j * y_row + i;
      const int64_t high = std::min(vnni_lanes, rows - i), wide = std::min(vnni_lanes, columns - j);
      if (high == vnni_lanes && wide == vnni_lanes) {
        (lines ? transpose_16<true> : transpose_16<false>)(from, x_row, to, y_row);
        continue;
      }
      for (int64_t c = 0; c < wide; ++c)
        for (int64_t r = 0; r < high; ++r) to[c * y_row + r] = from[r * x_row + c];
    }
  if (lines) _mm_sfence();
}

#else

bool has_vnni() { return false; }
void vnni_products(const uint8_t* const*, int64_t, const VnniRuns&, const VnniPanel&, const int8_t*, const int32_t*,
                   int32_t*, int64_t) {}
void vnni_channels(const uint8_t* const*, int64_t, const VnniChannels&, const int32_t*, int32_t*) {}
void vnni_requantize(const int32_t*, const int32_t*, const float*, uint8_t*, int64_t, float) {}
void vnni_requantize(const int32_t*, const int32_t*, const float*, int8_t*, int64_t, float) {}
void vnni_requantize_rows(const int32_t*, int64_t, int64_t, const float*, uint8_t*, int64_t, float) {}
void vnni_requantize_rows(const int32_t*, int64_t, int64_t, const float*, int8_t*, int64_t, float) {}
void vnni_transpose(const int32_t*, int64_t, int32_t*, int64_t, int64_t, int64_t, bool) {}

#endif

}  // namespace cameo::engine
