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

size_t scale_place(const Product& p, const QuantizedWeight& w, int64_t at) {
  return w.scales.size() > 1 ? static_cast<size_t>(p.channel(at)) : 0;
}

// What the levels make of the weights.
void measure(const Product& p, std::span<const float> weights, const ChannelMoments* inputs, QuantizedWeight& out) {
  out.shift.assign(static_cast<size_t>(p.outputs()), 0);
  out.error = out.power = 0;
  const auto levels = out.levels.span();
  for (size_t i = 0; i < weights.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const double w = static_cast<double>(weights[i]), s = static_cast<double>(out.scales[scale_place(p, out, at)]);
    const double wrong = static_cast<double>(static_cast<int8_t>(levels[i])) * s - w;
    const double factor = importance(inputs, p.input(at));
    out.power += w * w * factor;
    out.error += wrong * wrong * factor;
    if (inputs) out.shift[static_cast<size_t>(p.output(at))] += wrong * inputs->mean(static_cast<size_t>(p.input(at)));
  }
}

// Every weight to its nearest level, with the scales that are there; `known` are the levels of scales that stay.
void assign_levels(const Product& p, std::span<const float> weights, const Grid& grid, const ChannelMoments* inputs,
                   QuantizedWeight& out, const QuantizedWeight* known = nullptr) {
  const auto least = static_cast<double>(least_level(grid)), most = static_cast<double>(most_level(grid));
  std::vector<std::byte> levels(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    const size_t channel = scale_place(p, out, static_cast<int64_t>(i));
    const double w = static_cast<double>(weights[i]), s = static_cast<double>(out.scales[channel]);
    if (known && known->scales[channel] == out.scales[channel]) levels[i] = known->levels.span()[i];
    else levels[i] = static_cast<std::byte>(static_cast<int8_t>(std::isfinite(w) ? level_of(w, s, least, most) : 0));
  }
  out.levels = Bytes::own(std::move(levels));
  measure(p, weights, inputs, out);
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
  assign_levels(p, weights, grid, inputs, out, &rounded);
  return out;
}

QuantizedWeight with_levels(const Product& p, std::span<const float> weights, std::vector<float> scales, Bytes levels,
                            const ChannelMoments* inputs) {
  QuantizedWeight out;
  out.levels = std::move(levels), out.scales = std::move(scales);
  measure(p, weights, inputs, out);
  return out;
}

}  // namespace cameo::quant
