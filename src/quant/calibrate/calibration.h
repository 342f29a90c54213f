// What is learnt of a model's values while it runs on samples: one pass, in memory that does not grow with the samples.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/session.h"
#include "quant/calibrate/channel_moments.h"
#include "quant/calibrate/extremes.h"
#include "quant/calibrate/histogram.h"

namespace cameo::quant {

struct ValueStatistics {
  Histogram histogram;
  Extremes extremes;
  ChannelMoments channels;

  // Of a value in one sample. `sparse`: there are many samples, and of each fewer numbers are counted.
  void add(std::span<const float> numbers, std::span<const int64_t> dims, std::span<const size_t> axes,
           bool sparse = false);
};

// Every other sample, the first included, or the others: ranges of one half are judged on the other.
enum class Half : uint8_t { both, even, odd };

class Calibration {
 public:
  // What is watched: f32 values of the main graph, each with the axis of its channels, or -1.
  using Wishes = std::map<ValueId, int64_t>;
  Calibration(Model model, const Wishes& wishes, const engine::SessionOptions& run);

  void sample(std::span<const Datum> inputs);  // the model's inputs in order
  size_t samples() const { return samples_; }
  // Null for a value that was not watched, or never there.
  const ValueStatistics* of(ValueId v, Half half = Half::both) const;

 private:
  const ValueStatistics* of_sigmoid(ValueId v, ValueId input, Half half) const;

  std::vector<ValueId> watched_;
  std::vector<ValueStatistics> halves_[2];
  mutable std::vector<std::optional<ValueStatistics>> both_;  // made when it is asked for
  std::map<ValueId, size_t> places_;
  // What a Sigmoid gives is known from what it reads, and need not be looked at: the engine may fuse it.
  std::map<ValueId, ValueId> sigmoids_;
  mutable std::map<std::pair<ValueId, Half>, ValueStatistics> computed_;
  std::unique_ptr<engine::Session> session_;
  size_t samples_ = 0;
};

}  // namespace cameo::quant
