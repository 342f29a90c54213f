#include "engine/simd/recurrent_rows.h"

#include <cstring>

#include "engine/simd/math.h"

namespace cameo::engine {

std::vector<float> panels_of(const float* matrix, int64_t rows, int64_t columns) {
  const int64_t panels = (rows + panel_width - 1) / panel_width;
  std::vector<float> out(static_cast<size_t>(panels * columns * panel_width), 0.0f);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < columns; ++k)
      out[static_cast<size_t>((r / panel_width * columns + k) * panel_width + r % panel_width)] =
          matrix[r * columns + k];
  return out;
}

// Sums stay in registers while a panel streams by: memory is what limits a product with one vector.
typedef float Wide __attribute__((vector_size(64), aligned(4), may_alias));

CAMEO_SIMD void add_panel_products(const float* panels, const float* x, int64_t columns, int64_t first, int64_t last,
                                   float* y) {
  for (int64_t p = first; p < last; ++p) {
    const float* row = panels + p * columns * panel_width;
    Wide* out = reinterpret_cast<Wide*>(y + p * panel_width);
    Wide a = out[0], b = out[1], c = out[2], d = out[3];
    for (int64_t k = 0; k < columns; ++k, row += panel_width) {
      const Wide* w = reinterpret_cast<const Wide*>(row);
      const float s = x[k];
      a += w[0] * s;
      b += w[1] * s;
      c += w[2] * s;
      d += w[3] * s;
    }
    out[0] = a, out[1] = b, out[2] = c, out[3] = d;
  }
}

CAMEO_SIMD void scale_sums(const int32_t* sums, const float* scale, float factor, const float* start, float* y,
                           int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = start[i] + static_cast<float>(sums[i]) * (factor * scale[i]);
}

CAMEO_SIMD void lstm_cell(const float* gates, int64_t stride, float* c, float* h, int64_t hidden) {
  const float *in = gates, *out = gates + stride, *forget = gates + 2 * stride, *cell = gates + 3 * stride;
  for (int64_t i = 0; i < hidden; ++i) {
    const float next = sigmoid_of(forget[i]) * c[i] + sigmoid_of(in[i]) * tanh_of(cell[i]);
    c[i] = next;
    h[i] = sigmoid_of(out[i]) * tanh_of(next);
  }
}

}  // namespace cameo::engine
