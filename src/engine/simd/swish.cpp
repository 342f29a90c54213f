#include "engine/simd/swish.h"

#include "engine/simd/intrinsics.h"

namespace cameo::engine {

#if defined(__x86_64__) && defined(__GNUC__)

#define CAMEO_AVX512 __attribute__((target("avx512f,avx512dq")))

namespace {

// x / (1 + 2^t), t = scale * x. The quotient is the processor's estimate and one step of Newton's.
CAMEO_AVX512 inline __m512 swish_of(__m512 x, __m512 scale) {
  const __m512 one = _mm512_set1_ps(1.0f);
  const __m512 t =
      _mm512_min_ps(_mm512_set1_ps(126.0f), _mm512_mul_ps(x, scale));  // beyond, the quotient would be infinity times 0
  const __m512 n = _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 r = _mm512_sub_ps(t, n);
  __m512 p = _mm512_set1_ps(1.3264129e-3f);  // 2^r for |r| <= 1/2
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(9.6713444e-3f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(5.5507336e-2f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(2.4022245e-1f));
  p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(6.9314700e-1f));
  p = _mm512_fmadd_ps(p, r, one);
  const __m512 d = _mm512_add_ps(_mm512_scalef_ps(p, n), one);
  const __m512 q = _mm512_rcp14_ps(d);
  return _mm512_mul_ps(x, _mm512_fmadd_ps(q, _mm512_fnmadd_ps(d, q, one), q));
}

}  // namespace

bool has_fast_swish() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"); }

CAMEO_AVX512 void fast_swish(const float* x, float* y, int64_t n, float alpha) {
  const __m512 scale = _mm512_set1_ps(-1.44269504f * alpha);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64)
    for (int64_t k = 0; k < 64; k += 16) _mm512_storeu_ps(y + i + k, swish_of(_mm512_loadu_ps(x + i + k), scale));
  for (; i < n; i += 16) {
    const auto mask = static_cast<__mmask16>(n - i >= 16 ? 0xffff : (1 << (n - i)) - 1);
    _mm512_mask_storeu_ps(y + i, mask, swish_of(_mm512_maskz_loadu_ps(mask, x + i), scale));
  }
}

#else

bool has_fast_swish() { return false; }
void fast_swish(const float*, float*, int64_t, float) {}

#endif

}  // namespace cameo::engine
