#include "quant/calibrate/calibration.h"

#include <algorithm>
#include <cmath>

namespace cameo::quant {

namespace {

constexpr size_t densely = 16;   // samples of which many numbers are counted
constexpr uint32_t sparser = 4;  // of each further one so many times fewer, each as much as so many

}  // namespace

// Channels that lie in long runs are counted with the extremes, in one pass.
void ValueStatistics::add(std::span<const float> numbers, std::span<const int64_t> dims, std::span<const size_t> axes,
                          bool sparse) {
  const size_t most = sparse ? Histogram::selected / sparser : Histogram::selected;
  const uint32_t weight = sparse ? sparser : 1;
  const auto wanted = std::find(axes.begin(), axes.end(), static_cast<size_t>(channels.axis));
  const auto place = static_cast<size_t>(wanted - axes.begin());
  std::pair<double, double> range;
  if (channels.axis < 0 || wanted == axes.end()) {
    range = histogram.add(numbers, most, weight);
  } else if (ChannelMoments::in_runs(dims, place)) {
    Histogram::Filling filling(histogram, numbers.size(), most, weight);
    channels.add_runs(numbers, dims, place,
                      [&](std::span<const float> piece, float low, float high) { filling.piece(piece, low, high); });
    range = filling.finish();
  } else {
    range = histogram.add(numbers, most, weight);
    channels.add(numbers, dims, place);
  }
  extremes.add({range.first, range.second});
}

Calibration::Calibration(Model model, const Wishes& wishes, const engine::SessionOptions& run) {
  for (const auto& [v, axis] : wishes) {
    const NodeId def = model.graph[v].def;
    if (axis < 0 && def && model.graph[def].is("Sigmoid") && wishes.contains(model.graph[def].inputs[0])) {
      sigmoids_[v] = model.graph[def].inputs[0];
      continue;
    }
    places_[v] = watched_.size();
    watched_.push_back(v);
    for (auto& half : halves_) half.emplace_back().channels.axis = axis;
  }
  engine::SessionOptions options = run;
  options.observe = watched_;
  both_.resize(watched_.size());
  session_ = std::make_unique<engine::Session>(std::move(model), options);
}

void Calibration::sample(std::span<const Datum> inputs) {
  session_->run(inputs, [this](const engine::Observation& o) {
    if (o.dtype != DType::f32) return;
    ValueStatistics& s = halves_[samples_ % 2][o.index];
    both_[o.index].reset();
    s.add({reinterpret_cast<const float*>(o.bytes.data()), o.bytes.size() / sizeof(float)}, o.dims, o.axes,
          samples_ >= densely);
  });
  computed_.clear();
  ++samples_;
}

const ValueStatistics* Calibration::of_sigmoid(ValueId v, ValueId input, Half half) const {
  const ValueStatistics* in = of(input, half);
  if (!in) return nullptr;
  const auto [it, fresh] = computed_.try_emplace({v, half});
  if (fresh) {
    it->second.histogram = in->histogram.mapped([](double x) { return 1 / (1 + std::exp(-x)); });
    it->second.extremes.add({it->second.histogram.min(), it->second.histogram.max()});
  }
  return &it->second;
}

const ValueStatistics* Calibration::of(ValueId v, Half half) const {
  if (const auto it = sigmoids_.find(v); it != sigmoids_.end()) return of_sigmoid(v, it->second, half);
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
