#include "ops/signal/fourier.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cameo::ops {

namespace {

using Complex = std::complex<double>;
constexpr double pi = 3.14159265358979323846;

Complex turn(double part) { return {std::cos(2 * pi * part), std::sin(2 * pi * part)}; }

// Precondition: the size is a power of two.
void by_halves(std::vector<Complex>& v, double sign) {
  const size_t n = v.size();
  for (size_t i = 1, j = 0; i < n; ++i) {  // bit reversal
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(v[i], v[j]);
  }
  for (size_t length = 2; length <= n; length *= 2)
    for (size_t start = 0; start < n; start += length)
      for (size_t k = 0; k < length / 2; ++k) {
        const Complex a = v[start + k],
                      b = v[start + k + length / 2] * turn(sign * static_cast<double>(k) / static_cast<double>(length));
        v[start + k] = a + b, v[start + k + length / 2] = a - b;
      }
}

// Any length as a convolution, which powers of two can do (Bluestein).
std::vector<Complex> by_chirp(const std::vector<Complex>& in, double sign) {
  const size_t n = in.size();
  size_t wide = 1;
  while (wide < 2 * n) wide *= 2;
  std::vector<Complex> chirp(n), a(wide), b(wide);
  for (size_t i = 0; i < n; ++i) {
    const auto square = static_cast<uint64_t>(i) * i % (2 * n);  // exact, so that long signals keep their digits
    chirp[i] = turn(sign * static_cast<double>(square) / static_cast<double>(2 * n));
    a[i] = in[i] * chirp[i];
    b[i] = std::conj(chirp[i]);
    if (i) b[wide - i] = b[i];
  }
  by_halves(a, -1), by_halves(b, -1);
  for (size_t i = 0; i < wide; ++i) a[i] *= b[i];
  by_halves(a, 1);
  std::vector<Complex> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = a[i] * chirp[i] / static_cast<double>(wide);
  return out;
}

}  // namespace

std::vector<Complex> fourier(std::vector<Complex> in, bool inverse) {
  const double sign = inverse ? 1 : -1;
  if (in.size() < 2) return in;
  if ((in.size() & (in.size() - 1)) != 0) return by_chirp(in, sign);
  by_halves(in, sign);
  return in;
}

bool is_small_matrix(int64_t rows, int64_t parts, int64_t columns) {
  constexpr int64_t most = int64_t{1} << 24;
  return rows <= most && parts <= 2 && columns <= most && rows * parts * columns * 2 <= most;
}

std::vector<double> fourier_matrix(int64_t rows, int64_t parts, int64_t length, int64_t columns, bool inverse,
                                   double factor) {
  std::vector<double> m(static_cast<size_t>(rows * parts * columns * 2), 0);
  for (int64_t n = 0; n < std::min(rows, length); ++n)
    for (int64_t k = 0; k < columns; ++k) {
      const Complex w =
          turn((inverse ? 1 : -1) * static_cast<double>(n * k % length) / static_cast<double>(length)) * factor;
      double* real = m.data() + (n * parts * columns + k) * 2;
      real[0] = w.real(), real[1] = w.imag();
      if (parts < 2) continue;
      double* imaginary = real + columns * 2;
      imaginary[0] = -w.imag(), imaginary[1] = w.real();
    }
  return m;
}

}  // namespace cameo::ops
