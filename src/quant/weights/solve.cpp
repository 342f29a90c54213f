#include "quant/weights/solve.h"

#include <algorithm>
#include <cmath>

#include "engine/parallel.h"
#include "support/budget.h"

namespace cameo::quant {

namespace {

// y += a * x
void add_scaled(float* y, const float* x, float a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

std::vector<float> all_numbers(const Matrix& m) {
  std::vector<float> out;
  out.reserve(static_cast<size_t>(m.outputs() * m.depth()));
  m.for_rows([&](int64_t, std::span<const float> row) { out.insert(out.end(), row.begin(), row.end()); });
  return out;
}

}  // namespace

double inner_product(const float* a, const float* b, int64_t n) {
  float sums[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; ++k) sums[k] += a[i + k] * b[i + k];
  double out = 0;
  for (const float s : sums) out += static_cast<double>(s);
  for (; i < n; ++i) out += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return out;
}

std::vector<float> inverse_factor(const InputRows& x, double prior) {
  const int64_t n = x.depth;
  const auto at = [n](int64_t i, int64_t k) { return static_cast<size_t>(i * n + k); };
  std::vector<double> h(static_cast<size_t>(n * n));
  for (int64_t r = 0; r < x.rows(); ++r) {
    support::checkpoint();
    const auto row = x.row(r);
    for (int64_t i = 0; i < n; ++i) {
      const double a = static_cast<double>(row[static_cast<size_t>(i)]);
      if (a == 0) continue;
      for (int64_t k = i; k < n; ++k) h[at(i, k)] += a * static_cast<double>(row[static_cast<size_t>(k)]);
    }
  }
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) trace += h[at(i, i)];
  const double rows = static_cast<double>(std::max<int64_t>(1, x.rows()));
  const double damping = (0.01 + prior / rows) * trace / static_cast<double>(n);
  if (!(damping > 0) || !std::isfinite(damping)) return {};
  for (int64_t i = 0; i < n; ++i) h[at(i, i)] += damping;
  // H reversed is L L'; then the inverse of H, not reversed, is U'U with U the inverse of that L reversed, transposed.
  std::vector<double> l(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    support::checkpoint();
    for (int64_t k = 0; k <= i; ++k) {
      double sum = h[at(n - 1 - i, n - 1 - k)];
      const double *a = &l[at(i, 0)], *b = &l[at(k, 0)];
      for (int64_t j = 0; j < k; ++j) sum -= a[j] * b[j];
      if (i == k && !(sum > 0)) return {};
      l[at(i, k)] = i == k ? std::sqrt(sum) : sum / l[at(k, k)];
    }
  }
  // The inverse of L, row by row: rows above are known.
  std::vector<double> inverse(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    support::checkpoint();
    double* row = &inverse[at(i, 0)];
    for (int64_t j = 0; j < i; ++j) {
      const double factor = l[at(i, j)];
      if (factor == 0) continue;
      const double* above = &inverse[at(j, 0)];
      for (int64_t k = 0; k <= j; ++k) row[k] -= factor * above[k];
    }
    const double diagonal = l[at(i, i)];
    for (int64_t k = 0; k < i; ++k) row[k] /= diagonal;
    row[i] = 1 / diagonal;
  }
  std::vector<float> u(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = i; k < n; ++k) u[at(i, k)] = static_cast<float>(inverse[at(n - 1 - i, n - 1 - k)]);
  return u;
}

std::vector<float> importance_of(const InputRows& x) {
  std::vector<float> out(static_cast<size_t>(x.depth));
  for (int64_t r = 0; r < x.rows(); ++r)
    for (size_t k = 0; k < out.size(); ++k) out[k] += x.row(r)[k] * x.row(r)[k];
  double mean = 0;
  for (const float v : out) mean += static_cast<double>(v);
  const double rows = static_cast<double>(x.rows());
  mean /= std::max(1.0, rows) * static_cast<double>(std::max<size_t>(1, out.size()));
  for (float& v : out)
    v = static_cast<float>((static_cast<double>(v) + prior_rows * mean) / (rows + prior_rows)) + 1e-30F;
  return out;
}

double product_power(const Matrix& m, const InputRows& x) {
  double out = 0;
  m.for_rows([&](int64_t, std::span<const float> row) {
    for (int64_t r = 0; r < x.rows(); ++r) {
      const double y = inner_product(row.data(), x.row(r).data(), x.depth);
      out += y * y;
    }
  });
  return out;
}

double product_noise(const Matrix& m, const InputRows& x) {
  const std::vector<float> exact = all_numbers(m);
  std::vector<float> off(static_cast<size_t>(m.depth()));
  size_t n = 0;
  double out = 0;
  m.for_quantized([&](const QuantizedRow& row) {
    const float* numbers = exact.data() + n++ * off.size();
    for (size_t k = 0; k < off.size(); ++k) {
      const BlockScale& s = row.scales[k / static_cast<size_t>(m.format.block)];
      off[k] = static_cast<float>(static_cast<int>(row.levels[k]) - s.zero) * s.scale - numbers[k];
      if (m.factors) off[k] /= (*m.factors)[k];
    }
    for (int64_t r = 0; r < x.rows(); ++r) {
      const double y = inner_product(off.data(), x.row(r).data(), x.depth);
      out += y * y;
    }
  });
  return out;
}

std::shared_ptr<const SolvedMatrix> gptq(const Matrix& m, const InputRows& x, int threads) {
  if (m.depth() > most_gptq_depth || x.rows() == 0) return nullptr;
  const std::vector<float> u = inverse_factor(x, prior_rows), importance = importance_of(x);
  if (u.empty()) return nullptr;
  const int64_t depth = m.depth(), blocks = m.blocks();
  std::vector<float> w = all_numbers(m);
  auto out = std::make_shared<SolvedMatrix>();
  out->levels.resize(w.size());
  out->scales.resize(static_cast<size_t>(m.outputs() * blocks));
  const engine::ThreadScope scope(threads ? threads : engine::hardware_threads());
  engine::parallel(m.outputs(), 4, [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n) {
      float* row = w.data() + n * depth;
      BlockScale scale;
      for (int64_t k = 0; k < depth; ++k) {
        if (k % m.format.block == 0) {
          const auto count = static_cast<size_t>(std::min(m.format.block, depth - k));
          scale = block_scale({row + k, count}, std::span(importance).subspan(static_cast<size_t>(k), count), m.format,
                              BlockMethod::search, m.weight->dtype);
          out->scales[static_cast<size_t>(n * blocks + k / m.format.block)] = scale;
        }
        uint8_t& level = out->levels[static_cast<size_t>(n * depth + k)];
        to_levels({row + k, 1}, scale, m.format, &level);
        const float* line = u.data() + k * depth;
        const float error = row[k] - static_cast<float>(static_cast<int>(level) - scale.zero) * scale.scale;
        add_scaled(row + k + 1, line + k + 1, -error / line[k], depth - k - 1);
      }
    }
  });
  return out;
}

std::vector<float> awq_factors(const Matrix& m, const InputRows& x) {
  constexpr int powers = 10;
  const std::vector<float> importance = importance_of(x);
  std::vector<float> best;
  double least = product_noise(m, x);
  for (int i = 1; i < powers; ++i) {
    support::checkpoint();
    std::vector<float> factors(importance.size());
    double mean = 0;
    for (size_t k = 0; k < factors.size(); ++k) {
      factors[k] = std::pow(std::sqrt(importance[k]), static_cast<float>(i) / powers);
      mean += std::log(static_cast<double>(factors[k]) + 1e-20);
    }
    const auto middle = static_cast<float>(std::exp(mean / static_cast<double>(factors.size())));
    for (float& f : factors) f = std::clamp(f / middle, 1e-3F, 1e3F);
    Matrix scaled = m;
    scaled.factors = std::make_shared<const std::vector<float>>(factors);
    if (const double noise = product_noise(scaled, x); noise < least) least = noise, best = std::move(factors);
  }
  return best;
}

}  // namespace cameo::quant
