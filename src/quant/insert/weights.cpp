#include "quant/insert/weights.h"

#include <algorithm>
#include <cmath>

namespace cameo::quant {

namespace {

constexpr double shrinks[] = {1, 0.95, 0.9, 0.85, 0.8};
constexpr size_t tries = std::size(shrinks);

// How much errors of the weights of one input channel count, and what they shift.
struct InputChannel {
  double importance = 1, mean = 0;
};
std::vector<InputChannel> input_channels(const Product& p, const ChannelMoments* inputs) {
  std::vector<InputChannel> out(static_cast<size_t>(p.all_inputs()));
  for (size_t i = 0; inputs && i < out.size() && i < inputs->square.size(); ++i)
    out[i] = {inputs->mean_square(i) + 1e-12, inputs->mean(i)};
  return out;
}

// Of a finite number, the nearest level; ties to even: the sum's low bits hold the whole number.
double level_of(double w, double scale, double least, double most) {
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
  return (std::clamp(w / scale, least, most) + shift) - shift;
}

size_t scale_place(const QuantizedWeight& w, int64_t channel) {
  return w.scales.size() > 1 ? static_cast<size_t>(channel) : 0;
}

// What the levels make of the weights.
void measure(const Product& p, std::span<const float> weights, const ChannelMoments* inputs, QuantizedWeight& out) {
  out.shift.assign(static_cast<size_t>(p.outputs()), 0);
  out.error = out.power = 0;
  const auto levels = out.levels.span();
  const std::vector<InputChannel> known = input_channels(p, inputs);
  Product::Walk at(p);
  for (size_t i = 0; i < weights.size(); ++i, at.next()) {
    const double w = static_cast<double>(weights[i]),
                 s = static_cast<double>(out.scales[scale_place(out, at.channel())]);
    const double wrong = static_cast<double>(static_cast<int8_t>(levels[i])) * s - w;
    const InputChannel& in = known[static_cast<size_t>(at.input())];
    out.power += w * w * in.importance;
    out.error += wrong * wrong * in.importance;
    out.shift[static_cast<size_t>(at.output())] += wrong * in.mean;
  }
}

// Every weight to its nearest level, with the scales that are there; `known` are the levels of scales that stay.
void assign_levels(const Product& p, std::span<const float> weights, const Grid& grid, const ChannelMoments* inputs,
                   QuantizedWeight& out, const QuantizedWeight* known = nullptr) {
  const auto least = static_cast<double>(least_level(grid)), most = static_cast<double>(most_level(grid));
  std::vector<std::byte> levels(weights.size());
  Product::Walk at(p);
  for (size_t i = 0; i < weights.size(); ++i, at.next()) {
    const size_t channel = scale_place(out, at.channel());
    const double w = static_cast<double>(weights[i]), s = static_cast<double>(out.scales[channel]);
    if (known && known->scales[channel] == out.scales[channel]) levels[i] = known->levels.span()[i];
    else levels[i] = static_cast<std::byte>(static_cast<int8_t>(std::isfinite(w) ? level_of(w, s, least, most) : 0));
  }
  out.levels = Bytes::own(std::move(levels));
  measure(p, weights, inputs, out);
}

// Of every channel and scale that is tried, how much it is wrong.
std::vector<double> errors_of(const Product& p, std::span<const float> weights, const std::vector<float>& scales,
                              bool per_channel, const Grid& grid, const ChannelMoments* inputs) {
  const auto least = static_cast<double>(least_level(grid)), most = static_cast<double>(most_level(grid));
  const std::vector<InputChannel> known = input_channels(p, inputs);
  std::vector<double> out(scales.size());
  Product::Walk at(p);
  for (const float weight : weights) {
    const size_t first = per_channel ? static_cast<size_t>(at.channel()) * tries : 0;
    const double w = static_cast<double>(weight), factor = known[static_cast<size_t>(at.input())].importance;
    for (size_t t = first; t < first + tries; ++t) {
      const auto s = static_cast<double>(scales[t]);
      const double d = level_of(w, s, least, most) * s - w;
      out[t] += d * d * factor;
    }
    at.next();
  }
  return out;
}

}  // namespace

QuantizedWeight quantize_weight(const Product& p, std::span<const float> weights, const Grid& grid, bool per_channel,
                                const ChannelMoments* inputs) {
  const auto channels = static_cast<size_t>(per_channel ? p.channels() : 1);
  std::vector<double> reach(channels);
  Product::Walk at(p);
  for (const float w : weights) {
    double& most = reach[per_channel ? static_cast<size_t>(at.channel()) : 0];
    if (std::isfinite(w)) most = std::max(most, std::fabs(static_cast<double>(w)));
    at.next();
  }
  std::vector<float> scales(channels * tries);
  for (size_t c = 0; c < channels; ++c)
    for (size_t t = 0; t < tries; ++t)
      scales[c * tries + t] = static_cast<float>(scale_of({-reach[c] * shrinks[t], reach[c] * shrinks[t]}, grid).scale);
  const std::vector<double> errors = errors_of(p, weights, scales, per_channel, grid, inputs);
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
