#include "quant/calibrate/extremes.h"

#include <algorithm>
#include <cmath>

namespace cameo::quant {

namespace {

constexpr double times_as_many = 16;
// The extremes of samples follow a Gumbel distribution, whose scale is this share of its standard deviation; the
// largest of n samples is on average scale * ln(n) beyond the mean.
constexpr double gumbel_scale = 0.7797;
constexpr double most_growth = 2;  // times what was seen

}  // namespace

void Extremes::add(const Range& sample) {
  const auto count = [](End& e, double reach) {
    reach = std::max(reach, 0.0);
    e.sum += reach, e.square += reach * reach, e.most = std::max(e.most, reach);
  };
  count(low_, -sample.low);
  count(high_, sample.high);
  samples_ += 1;
}

void Extremes::merge(const Extremes& other) {
  const auto count = [](End& e, const End& o) {
    e.sum += o.sum, e.square += o.square, e.most = std::max(e.most, o.most);
  };
  count(low_, other.low_);
  count(high_, other.high_);
  samples_ += other.samples_;
}

double Extremes::beyond(const End& e) const {
  if (samples_ < 2) return e.most;
  const double mean = e.sum / samples_, variance = std::max(e.square / samples_ - mean * mean, 0.0);
  const double expected = mean + gumbel_scale * std::sqrt(variance) * std::log(samples_ * times_as_many);
  return std::clamp(expected, e.most, e.most * most_growth);
}

Range Extremes::expected() const { return {-beyond(low_), beyond(high_)}; }

}  // namespace cameo::quant
