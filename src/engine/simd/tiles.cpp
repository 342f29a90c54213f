#include "engine/simd/tiles.h"

#include <algorithm>
#include <cstring>

#include "engine/simd/math.h"

namespace cameo::engine {

namespace {

typedef float Four __attribute__((vector_size(16)));
typedef float Eight __attribute__((vector_size(32)));
typedef float Sixteen __attribute__((vector_size(64)));
constexpr int64_t widest = 2 * 16;

template <class V>
CAMEO_INLINE void load(const float* p, V& v) {
  std::memcpy(&v, p, sizeof v);
}

template <class V, int rows>
CAMEO_INLINE void sums_of(const float* __restrict a, const float* __restrict panel, int64_t depth, float* c,
                          int64_t c_row, bool adds) {
  constexpr int64_t width = sizeof(V) / sizeof(float);
  V s[rows][2], left, right;
  for (int i = 0; i < rows; ++i) {
    if (adds) load(c + i * c_row, s[i][0]), load(c + i * c_row + width, s[i][1]);
    else s[i][0] = s[i][1] = V{};
  }
  for (int64_t k = 0; k < depth; ++k, a += tile_rows, panel += 2 * width) {
    load(panel, left);
    load(panel + width, right);
    for (int i = 0; i < rows; ++i) {
      s[i][0] += a[i] * left;
      s[i][1] += a[i] * right;
    }
  }
  for (int i = 0; i < rows; ++i) {
    std::memcpy(c + i * c_row, &s[i][0], sizeof(V));
    std::memcpy(c + i * c_row + width, &s[i][1], sizeof(V));
  }
}

template <class V>
CAMEO_INLINE void whole_columns(const float* a, const float* panel, int64_t depth, float* c, int64_t c_row,
                                int64_t rows, bool adds) {
  if (rows == tile_rows) return sums_of<V, tile_rows>(a, panel, depth, c, c_row, adds);
  if (rows >= 4) {
    sums_of<V, 4>(a, panel, depth, c, c_row, adds);
    a += 4, c += 4 * c_row, rows -= 4;
  }
  if (rows >= 2) {
    sums_of<V, 2>(a, panel, depth, c, c_row, adds);
    a += 2, c += 2 * c_row, rows -= 2;
  }
  if (rows > 0) sums_of<V, 1>(a, panel, depth, c, c_row, adds);
}

template <class V>
CAMEO_INLINE void product(const float* a, const float* panel, int64_t depth, float* c, int64_t c_row, int64_t rows,
                          int64_t columns, bool adds) {
  constexpr int64_t width = 2 * sizeof(V) / sizeof(float);
  if (columns == width) return whole_columns<V>(a, panel, depth, c, c_row, rows, adds);
  float part[tile_rows * width] = {};
  for (int64_t i = 0; i < rows && adds; ++i)
    std::memcpy(part + i * width, c + i * c_row, static_cast<size_t>(columns) * sizeof(float));
  whole_columns<V>(a, panel, depth, part, width, rows, adds);
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(c + i * c_row, part + i * width, static_cast<size_t>(columns) * sizeof(float));
}

using Product = void (*)(const float*, const float*, int64_t, float*, int64_t, int64_t, int64_t, bool);
#define PRODUCT(name, vector)                                                                                          \
  void name(const float* a, const float* panel, int64_t depth, float* c, int64_t c_row, int64_t rows, int64_t columns, \
            bool adds) {                                                                                               \
    product<vector>(a, panel, depth, c, c_row, rows, columns, adds);                                                   \
  }
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx512f"))) PRODUCT(product_by_16, Sixteen) __attribute__((target("avx2,fma")))
PRODUCT(product_by_8, Eight)
#endif
    PRODUCT(product_by_4, Four)
#undef PRODUCT

        struct Choice {
  int64_t columns;
  Product run;
};
Choice choose() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (__builtin_cpu_supports("avx512f")) return {2 * 16, product_by_16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {2 * 8, product_by_8};
#endif
  return {2 * 4, product_by_4};
}
const Choice& choice() {
  static const Choice best = choose();
  return best;
}

}  // namespace

int64_t tile_columns() { return choice().columns; }

void tile_product(const float* a, const float* panel, int64_t depth, float* c, int64_t c_row, int64_t rows,
                  int64_t columns, bool adds) {
  choice().run(a, panel, depth, c, c_row, rows, columns, adds);
}

void pack_tile(const float* a, int64_t row_step, int64_t rows, int64_t depth, float* out) {
  if (rows < tile_rows) std::fill_n(out, depth * tile_rows, 0.0f);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t k = 0; k < depth; ++k) out[k * tile_rows + i] = a[i * row_step + k];
}

void pack_panel(const float* b, int64_t row_step, int64_t column_step, int64_t depth, int64_t columns, float* out) {
  const int64_t width = tile_columns();
  if (columns < width) std::fill_n(out, depth * width, 0.0f);
  if (column_step == 1) {
    for (int64_t k = 0; k < depth; ++k)
      std::memcpy(out + k * width, b + k * row_step, static_cast<size_t>(columns) * sizeof(float));
    return;
  }
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t k = 0; k < depth; ++k) out[k * width + j] = b[k * row_step + j * column_step];
}

}  // namespace cameo::engine
