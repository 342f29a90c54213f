// Discrete Fourier transforms of any length.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "support/layers.h"

namespace cameo::ops {

// out[k] = sum of in[n] * exp(sign * 2 pi i * k * n / N), sign -1 unless `inverse`; not normalised.
std::vector<std::complex<double>> fourier(std::vector<std::complex<double>> in, bool inverse);

// The same as a matrix over interleaved numbers: [rows * parts, columns * 2], row-major. `parts` is 2 for complex
// input, 1 for real. Rows past `length` are zero (a longer signal is cut), scaled by `factor`.
std::vector<double> fourier_matrix(int64_t rows, int64_t parts, int64_t length, int64_t columns, bool inverse,
                                   double factor);
// Whether that matrix may be written into a model.
bool is_small_matrix(int64_t rows, int64_t parts, int64_t columns);

}  // namespace cameo::ops
