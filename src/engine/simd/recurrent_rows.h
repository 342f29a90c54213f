// One step of a recurrent layer for one sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "support/layers.h"

namespace cameo::engine {

inline constexpr int64_t panel_width = 64;

// A matrix [rows, columns] as panels of 64 rows, column by column: [panels][columns][64], zeros where rows end.
std::vector<float> panels_of(const float* matrix, int64_t rows, int64_t columns);
// y[i] += matrix[i,:] * x for the rows of panels first to last; y has room for whole panels.
void add_panel_products(const float* panels, const float* x, int64_t columns, int64_t first, int64_t last, float* y);
// y[i] = start[i] + sums[i] * (factor * scale[i])
void scale_sums(const int32_t* sums, const float* scale, float factor, const float* start, float* y, int64_t n);
// ONNX's LSTM cell: gates i, o, f, c, one behind the other, `stride` apart. Updates c, gives h.
void lstm_cell(const float* gates, int64_t stride, float* c, float* h, int64_t hidden);

}  // namespace cameo::engine
