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

// Every weight to its nearest level, with the scales that are there.
void assign_levels(const Product& p, std::span<const float> weights, const Grid& grid, const ChannelMoments* inputs,
                   QuantizedWeight& out) {
  const auto least = static_cast<double>(least_level(grid)), most = static_cast<double>(most_level(grid));
  std::vector<std::byte> levels(weights.size());
  out.shift.assign(static_cast<size_t>(p.outputs()), 0);
  out.error = out.power = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const size_t channel = out.scales.size() > 1 ? static_cast<size_t>(p.channel(at)) : 0;
    const double w = static_cast<double>(weights[i]), s = static_cast<double>(out.scales[channel]);
    const double level = std::isfinite(w) ? level_of(w, s, least, most) : 0, wrong = level * s - w;
    const double factor = importance(inputs, p.input(at));
    levels[i] = static_cast<std::byte>(static_cast<int8_t>(level));
    out.power += w * w * factor;
    out.error += wrong * wrong * factor;
    if (inputs) out.shift[static_cast<size_t>(p.output(at))] += wrong * inputs->mean(static_cast<size_t>(p.input(at)));
  }
  out.levels = Bytes::own(std::move(levels));
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
  }
  assign_levels(p, weights, grid, inputs, out);
  return out;
}

QuantizedWeight with_larger_scales(const Product& p, std::span<const float> weights, const QuantizedWeight& rounded,
                                   std::span<const float> least, const Grid& grid, const ChannelMoments* inputs) {
  QuantizedWeight out;
  for (size_t i = 0; i < rounded.scales.size(); ++i) out.scales.push_back(std::max(rounded.scales[i], least[i]));
  assign_levels(p, weights, grid, inputs, out);
  return out;
}

}  // namespace cameo::quant
