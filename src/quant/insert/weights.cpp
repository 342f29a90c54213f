#include "quant/insert/weights.h"

#include <algorithm>
#include <cmath>

#include "engine/simd/row_moments.h"

namespace cameo::quant {

namespace {

constexpr double shrinks[] = {1, 0.95, 0.9, 0.85, 0.8};

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

// Weights with how much their errors count, those of one scale side by side.
struct Lines {
  std::vector<float> weights, factors;
  size_t depth;

  Lines(const Product& p, std::span<const float> numbers, bool per_channel, const ChannelMoments* inputs)
      : weights(numbers.size()), factors(numbers.size()) {
    const auto channels = static_cast<size_t>(per_channel ? p.channels() : 1);
    depth = numbers.size() / channels;
    const std::vector<InputChannel> known = input_channels(p, inputs);
    std::vector<size_t> next(channels);
    for (size_t c = 0; c < channels; ++c) next[c] = c * depth;
    Product::Walk at(p);
    for (const float w : numbers) {
      const size_t to = next[per_channel ? static_cast<size_t>(at.channel()) : 0]++;
      weights[to] = w, factors[to] = static_cast<float>(known[static_cast<size_t>(at.input())].importance);
      at.next();
    }
  }
  double reach(size_t line) const {
    double out = 0;
    for (size_t i = line * depth; i < (line + 1) * depth; ++i)
      if (std::isfinite(weights[i])) out = std::max(out, std::fabs(static_cast<double>(weights[i])));
    return out;
  }
  double error(size_t line, float scale, const Grid& grid) const {
    const auto s = static_cast<double>(scale);
    return s * s *
           engine::rounding_errors_row(weights.data() + line * depth, factors.data() + line * depth,
                                       static_cast<int64_t>(depth), 1 / scale, static_cast<float>(least_level(grid)),
                                       static_cast<float>(most_level(grid)));
  }
};

}  // namespace

QuantizedWeight quantize_weight(const Product& p, std::span<const float> weights, const Grid& grid, bool per_channel,
                                const ChannelMoments* inputs) {
  const Lines lines(p, weights, per_channel, inputs);
  QuantizedWeight out;
  for (size_t line = 0; line < weights.size() / lines.depth; ++line) {
    const double reach = lines.reach(line);
    float best = 0;
    double least = 0;
    for (const double shrink : shrinks) {
      const auto scale = static_cast<float>(scale_of({-reach * shrink, reach * shrink}, grid).scale);
      const double e = lines.error(line, scale, grid);
      if (best == 0 || e < least) best = scale, least = e;
    }
    out.scales.push_back(best);
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
