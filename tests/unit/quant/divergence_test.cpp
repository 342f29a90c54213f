#include "quant/calibrate/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "engine/simd/row_moments.h"

namespace cameo::tests {

// The definition, bin by bin: Kullback-Leibler divergence of what is kept, the rest in its last bin, from levels.
double divergence_by_definition(const std::vector<double>& p, size_t kept, size_t levels) {
  double beyond = 0, total = 0, out = 0;
  for (size_t i = 0; i < p.size(); ++i) (i < kept ? total : beyond) += p[i];
  total += beyond;
  for (size_t level = 0; level < levels; ++level) {
    const size_t from = level * kept / levels, to = (level + 1) * kept / levels;
    double sum = 0, filled = 0;
    for (size_t i = from; i < to; ++i) sum += p[i], filled += p[i] > 0;
    for (size_t i = from; i < to; ++i) {
      const double mine = p[i] + (i + 1 == kept ? beyond : 0);
      if (mine > 0) out += mine / total * std::log(mine / (filled > 0 ? sum / filled : 1e-9));
    }
  }
  return out;
}

TEST(Divergence, IsThatOfTheDefinition) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    std::vector<double> p(2048);
    for (size_t i = 0; i < p.size(); ++i)
      p[i] = (i * 2654435761u * seed >> 7) % 5 == 0 ? 0 : 1e5 / (1.0 + static_cast<double>(i * i) / 900);
    for (const size_t kept : {128u, 144u, 1000u, 2047u, 2048u})
      EXPECT_NEAR(quant::divergence(quant::Cumulated(p), kept, 128), divergence_by_definition(p, kept, 128), 1e-9);
  }
}

TEST(Divergence, SumsLogarithmsOfAllSizes) {
  std::vector<double> factors, x;
  double wanted = 0;
  for (int i = -900; i <= 900; i += 7) {
    factors.push_back(1 + i % 5), x.push_back(std::ldexp(1.0 + std::fabs(std::sin(i)), i));
    wanted += factors.back() * std::log(x.back());
  }
  EXPECT_NEAR(engine::sum_of_logs_row(factors.data(), x.data(), static_cast<int64_t>(x.size())), wanted,
              1e-9 * std::fabs(wanted));
}

}  // namespace cameo::tests
