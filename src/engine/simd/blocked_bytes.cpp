#include "engine/simd/blocked_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/simd/intrinsics.h"
#include "engine/simd/math.h"
#include "engine/simd/vnni_rows.h"

namespace cameo::engine {

namespace {

constexpr float largest_byte = 127;
constexpr float least_number =
    1e-36f;  // blocks of nothing larger are zeros: what they are divided by would be infinite

int64_t runs(const BlockedSize& s, int64_t run) { return (s.row_bytes() + run - 1) / run; }

// One block: its scale is 0 where all numbers are, and NaN where one of them is no number or infinite.
CAMEO_SIMD float round_block(const float* x, int64_t n, int8_t* y, float* sum) {
  float most = 0, finite = 0;
#pragma omp simd reduction(max : most) reduction(+ : finite)
  for (int64_t i = 0; i < n; ++i) {
    const float a = x[i] < 0 ? -x[i] : x[i];
    most = a > most ? a : most;
    finite += x[i] * 0;
  }
  if (finite != 0) {
    *sum = 0;
    return NAN;
  }
  const float scale = most / largest_byte, inverse = most > least_number ? largest_byte / most : 0.0f;
  int32_t total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) {
    const auto q = static_cast<int32_t>((x[i] * inverse + 12582912.0f) - 12582912.0f);  // the nearest, ties to even
    y[i] = static_cast<int8_t>(q);
    total += q;
  }
  *sum = static_cast<float>(total);
  return scale;
}

}  // namespace

int64_t panel_run(const BlockedSize& s) { return std::min(s.block_bytes(), byte_run); }

int64_t rounded_size(const BlockedSize& s, int64_t run) { return runs(s, run) * run * (8 / s.bits); }

void round_row(const BlockedSize& s, const float* x, int64_t run, const RoundedRow& to) {
  const int64_t planes = 8 / s.bits, codes = run * planes;
  std::vector<int8_t> row(static_cast<size_t>(rounded_size(s, run)), 0);
  for (int64_t b = 0; b < s.blocks; ++b)
    to.scales[b] =
        round_block(x + b * s.block, std::min(s.block, s.depth - b * s.block), row.data() + b * s.block, to.sums + b);
  for (int64_t r = 0; r < runs(s, run); ++r)
    for (int64_t p = 0; p < planes; ++p)
      for (int64_t j = 0; j < run; ++j)
        to.bytes[r * codes + p * run + j] = row[static_cast<size_t>(r * codes + j * planes + p)];
}

#if defined(__x86_64__) && defined(__GNUC__)

#define CAMEO_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))
#define CAMEO_UNROLL _Pragma("GCC unroll 8")

namespace {

constexpr int64_t lane_bytes = 4;

// Sixty-four bytes of codes times the numbers of their planes: a lane has the sum of four bytes of each.
template <int bits>
CAMEO_VNNI inline __m512i code_sums(__m512i sum, __m512i codes, const int8_t* x) {
  const __m512i mask = _mm512_set1_epi8(static_cast<char>((1 << bits) - 1));
  const auto add = [&](__m512i s, __m512i plane, int64_t at)
                       CAMEO_VNNI { return _mm512_dpbusd_epi32(s, plane, _mm512_loadu_si512(x + at * byte_run)); };
  if constexpr (bits == 8) return add(sum, codes, 0);
  sum = add(sum, _mm512_and_si512(codes, mask), 0);
  sum = add(sum, _mm512_and_si512(_mm512_srli_epi16(codes, bits), mask), 1);
  if constexpr (bits == 2) {
    sum = add(sum, _mm512_and_si512(_mm512_srli_epi16(codes, 4), mask), 2);
    sum = add(sum, _mm512_and_si512(_mm512_srli_epi16(codes, 6), mask), 3);
  }
  return sum;
}

// The products of both sides' scales, block by block; gives what the codes' zero points add up to.
CAMEO_VNNI inline __m512 both_scales(const BlockedSize& s, const BlockedRow& row, const RoundedRow& x, float* both) {
  const __m512 middle = _mm512_set1_ps(s.middle());
  __m512 sum = _mm512_setzero_ps();
  for (int64_t b = 0; b < s.blocks; b += 16) {
    const auto mask = static_cast<__mmask16>(s.blocks - b >= 16 ? 0xffff : (1 << (s.blocks - b)) - 1);
    const __m512 scale =
        _mm512_mul_ps(_mm512_maskz_loadu_ps(mask, row.scales + b), _mm512_maskz_loadu_ps(mask, x.scales + b));
    _mm512_storeu_ps(both + b, scale);
    const __m512 zero = row.zeros ? _mm512_add_ps(middle, _mm512_maskz_loadu_ps(mask, row.zeros + b)) : middle;
    sum = _mm512_fmadd_ps(_mm512_mul_ps(zero, scale), _mm512_maskz_loadu_ps(mask, x.sums + b), sum);
  }
  return sum;
}

// Blocks of at least a register of codes. `both` has the scales of each row, `room` apart.
template <int bits, int count>
CAMEO_VNNI inline void long_dots(const BlockedSize& s, const uint8_t* const* codes, const int8_t* x, const float* both,
                                 int64_t room, __m512* total) {
  const int64_t each = s.block_bytes() / byte_run;
  for (int64_t b = 0, at = 0; b < s.blocks; ++b) {
    __m512i part[count];
    CAMEO_UNROLL for (int c = 0; c < count; ++c) part[c] = _mm512_setzero_si512();
    for (int64_t k = 0; k < each; ++k, at += byte_run, x += byte_run * (8 / bits))
      CAMEO_UNROLL for (int c = 0; c < count; ++c) part[c] =
          code_sums<bits>(part[c], _mm512_loadu_si512(codes[c] + at), x);
    CAMEO_UNROLL for (int c = 0; c < count; ++c) total[c] =
        _mm512_fmadd_ps(_mm512_cvtepi32_ps(part[c]), _mm512_set1_ps(both[c * room + b]), total[c]);
  }
}

// Several blocks in a register: each lane has the scale of its block.
template <int bits, int count>
CAMEO_VNNI inline void short_dots(const BlockedSize& s, const uint8_t* const* codes, const int8_t* x, const float* both,
                                  int64_t room, __m512* total) {
  const int64_t each = byte_run / s.block_bytes(), bytes = s.row_bytes(), whole = bytes / byte_run;
  alignas(64) int32_t own[16];
  for (int j = 0; j < 16; ++j) own[j] = static_cast<int32_t>(j * lane_bytes / s.block_bytes());
  const __m512i lanes = _mm512_load_si512(own);
  const auto add = [&](int64_t u, int c, __m512i some) CAMEO_VNNI {
    const __m512i part = code_sums<bits>(_mm512_setzero_si512(), some, x + u * byte_run * (8 / bits));
    const __m512 scales = _mm512_permutexvar_ps(lanes, _mm512_loadu_ps(both + c * room + u * each));
    total[c] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(part), scales, total[c]);
  };
  for (int64_t u = 0; u < whole; ++u)
    CAMEO_UNROLL for (int c = 0; c < count; ++c) add(u, c, _mm512_loadu_si512(codes[c] + u * byte_run));
  if (bytes % byte_run == 0) return;
  const __mmask64 rest = (__mmask64{1} << (bytes % byte_run)) - 1;
  CAMEO_UNROLL for (int c = 0; c < count; ++c)
      add(whole, c, _mm512_maskz_loadu_epi8(rest, codes[c] + whole * byte_run));
}

template <int bits, int count>
CAMEO_VNNI void some_dots(const BlockedSize& s, const BlockedRow* rows, const RoundedRow& x, float* both, float* y) {
  const int64_t room = byte_dot_room(s);
  const uint8_t* codes[count];
  __m512 total[count];
  CAMEO_UNROLL for (int c = 0; c < count; ++c) {
    codes[c] = rows[c].codes;
    total[c] = _mm512_sub_ps(_mm512_setzero_ps(), both_scales(s, rows[c], x, both + c * room));
  }
  if (s.block_bytes() >= byte_run) long_dots<bits, count>(s, codes, x.bytes, both, room, total);
  else short_dots<bits, count>(s, codes, x.bytes, both, room, total);
  CAMEO_UNROLL for (int c = 0; c < count; ++c) y[c] = _mm512_reduce_add_ps(total[c]);
}

template <int bits>
void dots(const BlockedSize& s, const BlockedRow* rows, int64_t count, const RoundedRow& x, float* both, float* y) {
  if (count == blocked_dots_at_once) return some_dots<bits, 4>(s, rows, x, both, y);
  for (int64_t i = 0; i < count; ++i) some_dots<bits, 1>(s, rows + i, x, both, y + i);
}

// The codes of a row, a byte each, run by run and plane by plane.
template <int bits, int64_t bytes>
CAMEO_VNNI void spread_runs(const uint8_t* codes, int64_t count, uint8_t* y) {
  constexpr uint8_t mask = (1 << bits) - 1;
  for (int64_t r = 0; r < count; ++r, codes += bytes)
    for (int p = 0; p < 8 / bits; ++p, y += bytes)
      for (int64_t j = 0; j < bytes; ++j) y[j] = static_cast<uint8_t>(codes[j] >> (bits * p)) & mask;
}

template <int bits>
void spread_row(const BlockedSize& s, const uint8_t* codes, uint8_t* y) {
  if constexpr (bits == 8) return void(std::memcpy(y, codes, static_cast<size_t>(s.row_bytes())));
  const int64_t bytes = panel_run(s);
  if (bytes == 4) spread_runs<bits, 4>(codes, s.blocks, y);
  else if (bytes == 8) spread_runs<bits, 8>(codes, s.blocks, y);
  else if (bytes == 16) spread_runs<bits, 16>(codes, s.blocks, y);
  else if (bytes == 32) spread_runs<bits, 32>(codes, s.blocks, y);
  else spread_runs<bits, byte_run>(codes, s.row_bytes() / byte_run, y);
}

// `height` rows by two registers of columns; sums of a block are whole numbers.
template <int height>
CAMEO_VNNI void panel_rows(const BlockedSize& s, const RoundedRow* rows, const BytePanel& panel, float* const* y,
                           __mmask32 columns) {
  __m512 total[height][2];
  CAMEO_UNROLL for (int i = 0; i < height; ++i) total[i][0] = total[i][1] = _mm512_setzero_ps();
  const uint8_t* codes = panel.turned.data();
  const float *scales = panel.scales.data(), *zeros = panel.zeros.data();
  const int64_t steps = s.block / lane_bytes;
  for (int64_t b = 0, at = 0; b < s.blocks; ++b, scales += byte_panel_width, zeros += byte_panel_width) {
    __m512i sums[height][2];
    CAMEO_UNROLL for (int i = 0; i < height; ++i) sums[i][0] = sums[i][1] = _mm512_setzero_si512();
    for (int64_t k = 0; k < steps; ++k, at += lane_bytes, codes += byte_panel_width * lane_bytes) {
      const __m512i low = _mm512_loadu_si512(codes), high = _mm512_loadu_si512(codes + 64);
      CAMEO_UNROLL for (int i = 0; i < height; ++i) {
        int32_t four;
        std::memcpy(&four, rows[i].bytes + at, sizeof four);
        const __m512i x = _mm512_set1_epi32(four);
        sums[i][0] = _mm512_dpbusd_epi32(sums[i][0], low, x);
        sums[i][1] = _mm512_dpbusd_epi32(sums[i][1], high, x);
      }
    }
    CAMEO_UNROLL for (int j = 0; j < 2; ++j) {
      const __m512 scale = _mm512_loadu_ps(scales + 16 * j), zero = _mm512_loadu_ps(zeros + 16 * j);
      CAMEO_UNROLL for (int i = 0; i < height; ++i) {
        const __m512 v = _mm512_fnmadd_ps(zero, _mm512_set1_ps(rows[i].sums[b]), _mm512_cvtepi32_ps(sums[i][j]));
        total[i][j] = _mm512_fmadd_ps(_mm512_mul_ps(v, _mm512_set1_ps(rows[i].scales[b])), scale, total[i][j]);
      }
    }
  }
  CAMEO_UNROLL for (int i = 0; i < height; ++i) CAMEO_UNROLL for (int j = 0; j < 2; ++j)
      _mm512_mask_storeu_ps(y[i] + 16 * j, static_cast<__mmask16>(columns >> (16 * j)), total[i][j]);
}

}  // namespace

void byte_dots(const BlockedSize& s, const BlockedRow* rows, int64_t count, const RoundedRow& x, float* scratch,
               float* y) {
  (s.bits == 8 ? dots<8> : s.bits == 4 ? dots<4> : dots<2>)(s, rows, count, x, scratch, y);
}

void fill_byte_panel(const BlockedSize& s, const BlockedRow* rows, int64_t count, BytePanel& panel) {
  const int64_t depth = s.blocks * s.block, wide = byte_panel_width;
  for (int64_t c = 0; c < count; ++c) {
    (s.bits == 8   ? spread_row<8>
     : s.bits == 4 ? spread_row<4>
                   : spread_row<2>)(s, rows[c].codes, panel.codes.data() + c * depth);
    for (int64_t b = 0; b < s.blocks; ++b) {
      panel.scales[static_cast<size_t>(b * wide + c)] = rows[c].scales[b];
      panel.zeros[static_cast<size_t>(b * wide + c)] = s.middle() + (rows[c].zeros ? rows[c].zeros[b] : 0.0f);
    }
  }
  vnni_transpose(reinterpret_cast<const int32_t*>(panel.codes.data()), depth / lane_bytes,
                 reinterpret_cast<int32_t*>(panel.turned.data()), wide, wide, depth / lane_bytes);
}

void multiply_byte_panel(const BlockedSize& s, const RoundedRow& rows, int64_t m, const BytePanel& panel,
                         int64_t columns, float* y, int64_t y_row) {
  constexpr int64_t height = 6;
  const auto mask = static_cast<__mmask32>(columns >= byte_panel_width ? ~__mmask32{0} : (__mmask32{1} << columns) - 1);
  const int64_t size = rounded_size(s, panel_run(s));
  for (int64_t i = 0; i < m; i += height) {
    RoundedRow some[height];
    float* out[height];
    for (int64_t r = 0; r < height; ++r) {  // beyond the last row, that one again
      const int64_t at = std::min(i + r, m - 1);
      some[r] = {rows.bytes + at * size, rows.scales + at * s.blocks, rows.sums + at * s.blocks};
      out[r] = y + at * y_row;
    }
    panel_rows<height>(s, some, panel, out, mask);
  }
}

#else

void byte_dots(const BlockedSize&, const BlockedRow*, int64_t, const RoundedRow&, float*, float*) {}
void fill_byte_panel(const BlockedSize&, const BlockedRow*, int64_t, BytePanel&) {}
void multiply_byte_panel(const BlockedSize&, const RoundedRow&, int64_t, const BytePanel&, int64_t, float*, int64_t) {}

#endif

BytePanel make_byte_panel(const BlockedSize& s) {
  const auto depth = static_cast<size_t>(s.blocks * s.block), blocks = static_cast<size_t>(s.blocks);
  constexpr auto wide = static_cast<size_t>(byte_panel_width);
  return {std::vector<uint8_t>(depth * wide), std::vector<uint8_t>(depth * wide), std::vector<float>(blocks * wide),
          std::vector<float>(blocks * wide)};
}

}  // namespace cameo::engine
