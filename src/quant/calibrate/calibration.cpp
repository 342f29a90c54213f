#include "quant/calibrate/calibration.h"

#include <algorithm>
#include <cmath>

namespace cameo::quant {

namespace {

constexpr int64_t most_numbers = 1 << 14;  // of a value in one sample, for the moments

int64_t product(std::span<const int64_t> dims) {
  int64_t out = 1;
  for (const int64_t d : dims) out *= d;
  return out;
}

}  // namespace

void ChannelMoments::add(std::span<const float> numbers, std::span<const int64_t> dims, size_t place) {
  const auto channels = static_cast<size_t>(dims[place]);
  if (numbers.empty() || channels == 0) return;
  sum.resize(std::max(sum.size(), channels));
  square.resize(sum.size());
  most.resize(sum.size());
  const int64_t outer = product(dims.first(place)), inner = product(dims.subspan(place + 1));
  const auto total = static_cast<int64_t>(numbers.size());
  // Of a large value an even selection of the positions.
  const int64_t step = total <= most_numbers ? 1 : (total / most_numbers) | 1;
  const int64_t positions = outer * inner;
  for (int64_t position = 0; position < positions; position += step) {
    const float* first =
        numbers.data() + (position / inner) * static_cast<int64_t>(channels) * inner + position % inner;
    for (size_t c = 0; c < channels; ++c) {
      const float x = first[static_cast<int64_t>(c) * inner];
      if (!std::isfinite(x)) continue;
      sum[c] += static_cast<double>(x);
      square[c] += static_cast<double>(x) * static_cast<double>(x);
      most[c] = std::max(most[c], std::fabs(x));
    }
    count += 1;
  }
}

void ChannelMoments::merge(const ChannelMoments& other) {
  sum.resize(std::max(sum.size(), other.sum.size()));
  square.resize(sum.size());
  most.resize(sum.size());
  for (size_t c = 0; c < other.sum.size(); ++c) {
    sum[c] += other.sum[c], square[c] += other.square[c];
    most[c] = std::max(most[c], other.most[c]);
  }
  count += other.count;
}

Calibration::Calibration(Model model, const Wishes& wishes, int threads) {
  for (const auto& [v, axis] : wishes) {
    places_[v] = watched_.size();
    watched_.push_back(v);
    for (auto& half : halves_) half.emplace_back().channels.axis = axis;
  }
  engine::SessionOptions options;
  options.threads = threads;
  options.observe = watched_;
  both_.resize(watched_.size());
  session_ = std::make_unique<engine::Session>(std::move(model), options);
}

void Calibration::sample(std::span<const Datum> inputs) {
  session_->run(inputs, [this](const engine::Observation& o) {
    if (o.dtype != DType::f32) return;
    ValueStatistics& s = halves_[samples_ % 2][o.index];
    both_[o.index].reset();
    const std::span<const float> numbers(reinterpret_cast<const float*>(o.bytes.data()),
                                         o.bytes.size() / sizeof(float));
    const auto [low, high] = s.histogram.add(numbers);
    s.extremes.add({low, high});
    if (s.channels.axis < 0) return;
    for (size_t i = 0; i < o.axes.size(); ++i)
      if (o.axes[i] == static_cast<size_t>(s.channels.axis)) s.channels.add(numbers, o.dims, i);
  });
  ++samples_;
}

const ValueStatistics* Calibration::of(ValueId v, Half half) const {
  const auto it = places_.find(v);
  if (it == places_.end()) return nullptr;
  const ValueStatistics &even = halves_[0][it->second], &odd = halves_[1][it->second];
  const auto seen = [](const ValueStatistics& s) { return s.histogram.empty() ? nullptr : &s; };
  if (half == Half::even) return seen(even);
  if (half == Half::odd) return seen(odd);
  if (odd.histogram.empty()) return seen(even);
  std::optional<ValueStatistics>& both = both_[it->second];
  if (!both) {
    both = even;
    both->histogram.merge(odd.histogram);
    both->extremes.merge(odd.extremes);
    both->channels.merge(odd.channels);
  }
  return seen(*both);
}

}  // namespace cameo::quant
