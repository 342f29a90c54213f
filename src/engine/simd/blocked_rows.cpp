#include "engine/simd/blocked_rows.h"

#include <algorithm>
#include <bit>

#include "engine/simd/intrinsics.h"
#include "engine/simd/math.h"
#include "engine/simd/vnni_rows.h"

namespace cameo::engine {

namespace {

constexpr int64_t unit_bytes = 16;  // codes of a register's lanes

#if defined(__x86_64__) && defined(__GNUC__)
// Eight bytes at a time.
__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))) void nibbles(const uint8_t* packed, int64_t bytes,
                                                                           float* y) {
  const __m128i mask = _mm_set1_epi8(15);
  for (int64_t i = 0; i < bytes; i += 8) {
    const int64_t left = std::min<int64_t>(bytes - i, 8);
    const auto some = static_cast<__mmask16>((1 << left) - 1), made = static_cast<__mmask16>((1 << (2 * left)) - 1);
    const __m128i raw = _mm_maskz_loadu_epi8(some, packed + i);
    const __m128i codes = _mm_unpacklo_epi8(_mm_and_si128(raw, mask), _mm_and_si128(_mm_srli_epi16(raw, 4), mask));
    _mm512_mask_storeu_ps(y + 2 * i, made,
                          _mm512_sub_ps(_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(codes)), _mm512_set1_ps(8)));
  }
}
#else
void nibbles(const uint8_t*, int64_t, float*) {}
#endif

int64_t units(const BlockedSize& s) { return (s.row_bytes() + unit_bytes - 1) / unit_bytes; }

}  // namespace

CAMEO_SIMD void read_blocked_row(const BlockedSize& s, const BlockedRow& row, float* y) {
  const int64_t bytes = s.block_bytes();
  for (int64_t b = 0; b < s.blocks; ++b, y += s.block) {
    const uint8_t* codes = row.codes + b * bytes;
    const float scale = row.scales[b], zero = s.middle() + (row.zeros ? row.zeros[b] : 0.0f);
    if (s.bits == 8) {
      for (int64_t i = 0; i < bytes; ++i) y[i] = (static_cast<float>(codes[i]) - zero) * scale;
    } else if (s.bits == 4) {
      for (int64_t i = 0; i < bytes; ++i) {
        y[2 * i] = (static_cast<float>(codes[i] & 15) - zero) * scale;
        y[2 * i + 1] = (static_cast<float>(codes[i] >> 4) - zero) * scale;
      }
    } else {
      for (int64_t i = 0; i < bytes; ++i)
        for (int p = 0; p < 4; ++p) y[4 * i + p] = (static_cast<float>(codes[i] >> (2 * p) & 3) - zero) * scale;
    }
  }
}

CAMEO_SIMD void read_zero_points(const uint8_t* packed, int64_t bits, int64_t bytes, float* y) {
  if (bits == 4 && has_blocked_dots()) return nibbles(packed, bytes, y);
  if (bits == 8) {
    for (int64_t i = 0; i < bytes; ++i) y[i] = static_cast<float>(packed[i]) - 128.0f;
  } else if (bits == 4) {
    for (int64_t i = 0; i < bytes; ++i) {
      y[2 * i] = static_cast<float>(packed[i] & 15) - 8.0f;
      y[2 * i + 1] = static_cast<float>(packed[i] >> 4) - 8.0f;
    }
  } else {
    for (int64_t i = 0; i < bytes; ++i)
      for (int p = 0; p < 4; ++p) y[4 * i + p] = static_cast<float>(packed[i] >> (2 * p) & 3) - 2.0f;
  }
}

CAMEO_SIMD float dot_row(const float* x, const float* y, int64_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

int64_t arranged_size(const BlockedSize& s) { return units(s) * unit_bytes * (8 / s.bits); }

void arrange_for_dots(const BlockedSize& s, const float* x, float* arranged, float* block_sums) {
  const int64_t planes = 8 / s.bits;
  for (int64_t u = 0; u < units(s); ++u)
    for (int64_t p = 0; p < planes; ++p)
      for (int64_t j = 0; j < unit_bytes; ++j) {
        const int64_t i = (u * unit_bytes + j) * planes + p;
        *arranged++ = i < s.depth ? x[i] : 0.0f;
      }
  for (int64_t b = 0; b < s.blocks; ++b) {
    float sum = 0;
    for (int64_t i = b * s.block; i < std::min((b + 1) * s.block, s.depth); ++i) sum += x[i];
    block_sums[b] = sum;
  }
}

#if defined(__x86_64__) && defined(__GNUC__)

#define CAMEO_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define CAMEO_UNROLL _Pragma("GCC unroll 8")

namespace {

// Sixteen bytes of codes: for each place in a byte, sixteen codes less their middle.
template <int bits>
struct Decoder {
  static constexpr int planes = 8 / bits;
  __m512 table;

  CAMEO_AVX512 Decoder() {
    alignas(64) float values[16];
    for (int i = 0; i < 16; ++i) values[i] = static_cast<float>((i & ((1 << bits) - 1)) - (1 << (bits - 1)));
    table = _mm512_load_ps(values);
  }
  CAMEO_AVX512 __m512i bytes(const uint8_t* codes, __mmask16 mask) const {
    const __m128i raw = _mm_maskz_loadu_epi8(mask, codes);
    if constexpr (bits == 8) return _mm512_cvtepi8_epi32(_mm_xor_si128(raw, _mm_set1_epi8(-128)));
    else return _mm512_cvtepu8_epi32(raw);
  }
  template <int plane>
  CAMEO_AVX512 __m512 codes(__m512i bytes) const {
    if constexpr (bits == 8) return _mm512_cvtepi32_ps(bytes);
    else if constexpr (plane == 0) return _mm512_permutexvar_ps(bytes, table);  // looks at four bits only
    else return _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, bits * plane), table);
  }
  CAMEO_AVX512 __m512 dot(__m512i bytes, const float* x, __m512 sum) const {
    sum = _mm512_fmadd_ps(codes<0>(bytes), _mm512_loadu_ps(x), sum);
    if constexpr (planes > 1) sum = _mm512_fmadd_ps(codes<1>(bytes), _mm512_loadu_ps(x + 16), sum);
    if constexpr (planes > 2) {
      sum = _mm512_fmadd_ps(codes<2>(bytes), _mm512_loadu_ps(x + 32), sum);
      sum = _mm512_fmadd_ps(codes<3>(bytes), _mm512_loadu_ps(x + 48), sum);
    }
    return sum;
  }
};

// Blocks of at least sixteen bytes: one scale for several registers.
template <int bits, int count>
CAMEO_AVX512 void long_blocks(const BlockedSize& s, const BlockedRow* rows, const float* x, __m512* sums) {
  const Decoder<bits> decoder;
  const int64_t each = s.block_bytes() / unit_bytes;
  __m512 total[count];
  CAMEO_UNROLL for (int c = 0; c < count; ++c) total[c] = _mm512_setzero_ps();
  for (int64_t b = 0, u = 0; b < s.blocks; ++b) {
    __m512 part[count];
    CAMEO_UNROLL for (int c = 0; c < count; ++c) part[c] = _mm512_setzero_ps();
    for (int64_t k = 0; k < each; ++k, ++u, x += unit_bytes * Decoder<bits>::planes)
      CAMEO_UNROLL for (int c = 0; c < count; ++c) part[c] =
          decoder.dot(decoder.bytes(rows[c].codes + u * unit_bytes, 0xffff), x, part[c]);
    CAMEO_UNROLL for (int c = 0; c < count; ++c) total[c] =
        _mm512_fmadd_ps(part[c], _mm512_set1_ps(rows[c].scales[b]), total[c]);
  }
  CAMEO_UNROLL for (int c = 0; c < count; ++c) sums[c] = total[c];
}

// Several blocks in sixteen bytes: each lane has the scale of its block.
template <int bits, int count>
CAMEO_AVX512 void short_blocks(const BlockedSize& s, const BlockedRow* rows, const float* x, __m512* sums) {
  const Decoder<bits> decoder;
  const int64_t each = unit_bytes / s.block_bytes(), bytes = s.row_bytes();
  alignas(64) int32_t own[16];
  for (int j = 0; j < 16; ++j) own[j] = static_cast<int32_t>(j / s.block_bytes());
  const __m512i lanes = _mm512_load_si512(own);
  for (int c = 0; c < count; ++c) sums[c] = _mm512_setzero_ps();
  for (int64_t u = 0; u < units(s); ++u, x += unit_bytes * Decoder<bits>::planes) {
    const int64_t left = bytes - u * unit_bytes, blocks = std::min(each, s.blocks - u * each);
    const auto mask = static_cast<__mmask16>(left >= unit_bytes ? 0xffff : (1 << left) - 1);
    for (int c = 0; c < count; ++c) {
      const __m512 part = decoder.dot(decoder.bytes(rows[c].codes + u * unit_bytes, mask), x, _mm512_setzero_ps());
      const __m512 scales = _mm512_maskz_loadu_ps(static_cast<__mmask16>((1 << blocks) - 1), rows[c].scales + u * each);
      sums[c] = _mm512_fmadd_ps(part, _mm512_permutexvar_ps(lanes, scales), sums[c]);
    }
  }
}

template <int bits>
CAMEO_AVX512 void arranged_row(const BlockedSize& s, const BlockedRow& row, float* y) {
  const Decoder<bits> decoder;
  const int64_t block_bytes = s.block_bytes(), bytes = s.row_bytes();
  alignas(64) int32_t own[16];
  for (int j = 0; j < 16; ++j) own[j] = static_cast<int32_t>(j / block_bytes);
  const __m512i lanes = _mm512_load_si512(own);
  const int64_t count = units(s), each = std::max<int64_t>(1, unit_bytes / block_bytes);
  const int places = std::countr_zero(static_cast<uint64_t>(block_bytes));  // blocks are powers of two long
  for (int64_t u = 0; u < count; ++u, y += unit_bytes * Decoder<bits>::planes) {
    const int64_t left = bytes - u * unit_bytes, first = (u * unit_bytes) >> places,
                  blocks = std::min(s.blocks - first, each);
    const auto some = static_cast<__mmask16>((1 << blocks) - 1);
    const __m512 scale = _mm512_permutexvar_ps(lanes, _mm512_maskz_loadu_ps(some, row.scales + first));
    __m512 shift = _mm512_setzero_ps();
    if (row.zeros)
      shift = _mm512_mul_ps(scale, _mm512_permutexvar_ps(lanes, _mm512_maskz_loadu_ps(some, row.zeros + first)));
    const __m512i codes = decoder.bytes(row.codes + u * unit_bytes,
                                        static_cast<__mmask16>(left >= unit_bytes ? 0xffff : (1 << left) - 1));
    _mm512_storeu_ps(y, _mm512_fmsub_ps(decoder.template codes<0>(codes), scale, shift));
    if constexpr (bits < 8) _mm512_storeu_ps(y + 16, _mm512_fmsub_ps(decoder.template codes<1>(codes), scale, shift));
    if constexpr (bits < 4) {
      _mm512_storeu_ps(y + 32, _mm512_fmsub_ps(decoder.template codes<2>(codes), scale, shift));
      _mm512_storeu_ps(y + 48, _mm512_fmsub_ps(decoder.template codes<3>(codes), scale, shift));
    }
  }
}

template <int bits, int count>
CAMEO_AVX512 void some_dots(const BlockedSize& s, const BlockedRow* rows, const float* arranged,
                            const float* block_sums, float* y) {
  __m512 sums[count];
  if (s.block_bytes() >= unit_bytes) long_blocks<bits, count>(s, rows, arranged, sums);
  else short_blocks<bits, count>(s, rows, arranged, sums);
  for (int c = 0; c < count; ++c) {
    if (rows[c].zeros)
      for (int64_t b = 0; b < s.blocks; b += 16) {
        const auto mask = static_cast<__mmask16>(s.blocks - b >= 16 ? 0xffff : (1 << (s.blocks - b)) - 1);
        const __m512 steps = _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, rows[c].zeros + b),
                                           _mm512_maskz_loadu_ps(mask, rows[c].scales + b));
        sums[c] = _mm512_fnmadd_ps(steps, _mm512_maskz_loadu_ps(mask, block_sums + b), sums[c]);
      }
    y[c] = _mm512_reduce_add_ps(sums[c]);
  }
}

template <int bits>
void dots(const BlockedSize& s, const BlockedRow* rows, int64_t count, const float* arranged, const float* block_sums,
          float* y) {
  if (count == blocked_dots_at_once) return some_dots<bits, 4>(s, rows, arranged, block_sums, y);
  for (int64_t i = 0; i < count; ++i) some_dots<bits, 1>(s, rows + i, arranged, block_sums, y + i);
}

}  // namespace

void read_arranged_row(const BlockedSize& s, const BlockedRow& row, float* y) {
  (s.bits == 8 ? arranged_row<8> : s.bits == 4 ? arranged_row<4> : arranged_row<2>)(s, row, y);
}

void turn_panel(const float* w, int64_t k, float* panel) {
  vnni_transpose(reinterpret_cast<const int32_t*>(w), k, reinterpret_cast<int32_t*>(panel), panel_width, panel_width,
                 k);
}

namespace {

template <int height>
CAMEO_AVX512 void panel_rows(const float* const* x, const PanelProduct& p, float* const* y, __mmask64 columns) {
  __m512 sums[height][4];
  CAMEO_UNROLL for (int i = 0; i < height; ++i) CAMEO_UNROLL for (int j = 0; j < 4; ++j) sums[i][j] =
      p.adds ? _mm512_maskz_loadu_ps(static_cast<__mmask16>(columns >> (16 * j)), y[i] + 16 * j) : _mm512_setzero_ps();
  const float* panel = p.panel;
  for (int64_t d = 0; d < p.k; ++d, panel += panel_width) {
    __m512 w[4];
    CAMEO_UNROLL for (int j = 0; j < 4; ++j) w[j] = _mm512_loadu_ps(panel + 16 * j);
    CAMEO_UNROLL for (int i = 0; i < height; ++i) {
      const __m512 one = _mm512_set1_ps(x[i][d]);
      CAMEO_UNROLL for (int j = 0; j < 4; ++j) sums[i][j] = _mm512_fmadd_ps(one, w[j], sums[i][j]);
    }
  }
  CAMEO_UNROLL for (int i = 0; i < height; ++i) CAMEO_UNROLL for (int j = 0; j < 4; ++j)
      _mm512_mask_storeu_ps(y[i] + 16 * j, static_cast<__mmask16>(columns >> (16 * j)), sums[i][j]);
}

}  // namespace

void multiply_panel(const PanelProduct& p) {
  constexpr int64_t height = 6;
  const __mmask64 mask = p.columns >= panel_width ? ~__mmask64{0} : (__mmask64{1} << p.columns) - 1;
  for (int64_t i = 0; i < p.m; i += height) {
    const float* rows[height];
    float* out[height];
    for (int64_t r = 0; r < height; ++r) {  // beyond the last row, that one again: all load before one stores
      rows[r] = p.x + std::min(i + r, p.m - 1) * p.x_row;
      out[r] = p.y + std::min(i + r, p.m - 1) * p.y_row;
    }
    panel_rows<height>(rows, p, out, mask);
  }
}

bool has_blocked_dots() { return has_vnni(); }

void blocked_dots(const BlockedSize& s, const BlockedRow* rows, int64_t count, const float* arranged,
                  const float* block_sums, float* y) {
  (s.bits == 8 ? dots<8> : s.bits == 4 ? dots<4> : dots<2>)(s, rows, count, arranged, block_sums, y);
}

#else

bool has_blocked_dots() { return false; }
void blocked_dots(const BlockedSize&, const BlockedRow*, int64_t, const float*, const float*, float*) {}
void read_arranged_row(const BlockedSize&, const BlockedRow&, float*) {}
void turn_panel(const float*, int64_t, float*) {}
void multiply_panel(const PanelProduct&) {}

#endif

}  // namespace cameo::engine
