// Of each channel of a value: what bias correction and the rounding of weights need.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cameo::quant {

struct ChannelMoments {
  int64_t axis = -1;  // negative: not wanted; counted from the front
  double count = 0;   // numbers per channel
  std::vector<double> sum, square;
  std::vector<float> low, high;  // the extremes, zero among them

  double mean(size_t channel) const { return count > 0 && channel < sum.size() ? sum[channel] / count : 0; }
  double mean_square(size_t channel) const {
    return count > 0 && channel < square.size() ? square[channel] / count : 0;
  }
  // `dims` from the outermost in memory to the innermost, the channels among them at `place`. Of a large value an even
  // selection is counted.
  void add(std::span<const float> numbers, std::span<const int64_t> dims, size_t place);
  // The same of every number, where each channel's lie side by side; `seen` gets each piece of them with its extremes.
  using Seen = std::function<void(std::span<const float> piece, float low, float high)>;
  static bool in_runs(std::span<const int64_t> dims, size_t place);
  void add_runs(std::span<const float> numbers, std::span<const int64_t> dims, size_t place, const Seen& seen);
  void merge(const ChannelMoments& other);

 private:
  void reserve(size_t channels);
  void add_numbers(size_t channel, const float* x, int64_t n, int64_t step);
  void add_rows(std::span<const float> numbers, int64_t step);
};

}  // namespace cameo::quant
