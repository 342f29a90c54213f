#include "quant/insert/weights.h"

#include <algorithm>
#include <cmath>

namespace cameo::quant {

namespace {

constexpr double shrinks[] = {1, 0.95, 0.9, 0.85, 0.8};
constexpr size_t tries = std::size(shrinks);

double importance(const ChannelMoments* inputs, int64_t input) {
  if (!inputs) return 1;
  const auto i = static_cast<size_t>(input);
  return i < inputs->square.size() ? inputs->mean_square(i) + 1e-12 : 1;
}

double level_of(double w, double scale, double least, double most) {
  return std::clamp(std::nearbyint(w / scale), least, most);
}

}  // namespace

QuantizedWeight quantize_weight(const Product& p, std::span<const float> weights, const Grid& grid, bool per_channel,
                                const ChannelMoments* inputs) {
  const auto least = static_cast<double>(least_level(grid)), most = static_cast<double>(most_level(grid));
  const auto channels = static_cast<size_t>(per_channel ? p.channels() : 1);
  const auto count = static_cast<int64_t>(weights.size());
  const auto place = [&](int64_t i) { return per_channel ? static_cast<size_t>(p.channel(i)) : 0; };
  std::vector<double> reach(channels);
  for (int64_t i = 0; i < count; ++i) {
    const auto magnitude = std::fabs(static_cast<double>(weights[static_cast<size_t>(i)]));
    if (std::isfinite(magnitude)) reach[place(i)] = std::max(reach[place(i)], magnitude);
  }
  std::vector<double> errors(channels * tries);
  std::vector<float> scales(channels * tries);
  for (size_t c = 0; c < channels; ++c)
    for (size_t t = 0; t < tries; ++t)
      scales[c * tries + t] = static_cast<float>(scale_of({-reach[c] * shrinks[t], reach[c] * shrinks[t]}, grid).scale);
  for (int64_t i = 0; i < count; ++i) {
    const size_t c = place(i);
    const double w = static_cast<double>(weights[static_cast<size_t>(i)]), factor = importance(inputs, p.input(i));
    for (size_t t = 0; t < tries; ++t) {
      const auto s = static_cast<double>(scales[c * tries + t]);
      const double d = level_of(w, s, least, most) * s - w;
      errors[c * tries + t] += d * d * factor;
    }
  }
  QuantizedWeight out;
  for (size_t c = 0; c < channels; ++c) {
    const auto first = errors.begin() + static_cast<std::ptrdiff_t>(c * tries);
    const auto best = static_cast<size_t>(std::min_element(first, first + tries) - first);
    out.scales.push_back(scales[c * tries + best]);
    out.error += errors[c * tries + best];
  }
  std::vector<std::byte> levels(weights.size());
  out.shift.resize(static_cast<size_t>(p.outputs()));
  for (int64_t i = 0; i < count; ++i) {
    const auto w = static_cast<double>(weights[static_cast<size_t>(i)]), s = static_cast<double>(out.scales[place(i)]);
    const double level = std::isfinite(w) ? level_of(w, s, least, most) : 0;
    levels[static_cast<size_t>(i)] = static_cast<std::byte>(static_cast<int8_t>(level));
    out.power += w * w * importance(inputs, p.input(i));
    if (inputs)
      out.shift[static_cast<size_t>(p.output(i))] += (level * s - w) * inputs->mean(static_cast<size_t>(p.input(i)));
  }
  out.levels = Bytes::own(std::move(levels));
  return out;
}

}  // namespace cameo::quant
