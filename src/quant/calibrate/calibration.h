// What is learnt of a model's values while it runs on samples: one pass, in memory that does not grow with the samples.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/session.h"
#include "quant/calibrate/extremes.h"
#include "quant/calibrate/histogram.h"

namespace cameo::quant {

// Of each channel of a value: what bias correction and the rounding of weights need.
struct ChannelMoments {
  int64_t axis = -1;  // negative: not wanted; counted from the front
  double count = 0;   // numbers per channel
  std::vector<double> sum, square;
  std::vector<float> most;  // the largest magnitude

  double mean(size_t channel) const { return count > 0 && channel < sum.size() ? sum[channel] / count : 0; }
  double mean_square(size_t channel) const {
    return count > 0 && channel < square.size() ? square[channel] / count : 0;
  }
  void add(std::span<const float> numbers, std::span<const int64_t> dims, size_t place);
  void merge(const ChannelMoments& other);
};

struct ValueStatistics {
  Histogram histogram;
  Extremes extremes;
  ChannelMoments channels;
};

// Every other sample, the first included, or the others: ranges of one half are judged on the other.
enum class Half : uint8_t { both, even, odd };

class Calibration {
 public:
  // What is watched: f32 values of the main graph, each with the axis of its channels, or -1.
  using Wishes = std::map<ValueId, int64_t>;
  Calibration(Model model, const Wishes& wishes, int threads);

  void sample(std::span<const Datum> inputs);  // the model's inputs in order
  size_t samples() const { return samples_; }
  // Null for a value that was not watched, or never there.
  const ValueStatistics* of(ValueId v, Half half = Half::both) const;

 private:
  std::vector<ValueId> watched_;
  std::vector<ValueStatistics> halves_[2];
  mutable std::vector<std::optional<ValueStatistics>> both_;  // made when it is asked for
  std::map<ValueId, size_t> places_;
  std::unique_ptr<engine::Session> session_;
  size_t samples_ = 0;
};

}  // namespace cameo::quant
