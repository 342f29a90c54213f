// How the numbers of a value are distributed, in a fixed amount of memory: bins with fixed, log-spaced bounds, so that
// histograms of different samples can be added. 32 bins to an octave, from 2^-40 to 2^24, on both sides of zero.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "quant/layer.h"

namespace cameo::quant {

class Histogram {
 public:
  static constexpr int bins_per_octave = 32, octaves = 64, lowest_exponent = -40;
  static constexpr size_t bins_per_sign = size_t{bins_per_octave} * octaves;

  // Minimum and maximum count every number; of more than `most` numbers the bins count an even selection.
  // Returns the least and the largest of the finite ones, {0, 0} where there are none.
  std::pair<double, double> add(std::span<const float> numbers, size_t most = 1 << 13);
  void merge(const Histogram& other);

  bool empty() const { return seen_ == 0; }
  uint64_t seen() const { return seen_; }        // numbers that were given, those that are not finite excepted
  uint64_t strange() const { return strange_; }  // NaN and infinities
  double min() const { return min_; }            // 0 while it is empty
  double max() const { return max_; }
  double total() const;  // what the bins count; zeros included

  // A bin that is not empty, as numbers spread evenly between two bounds.
  struct Bin {
    double low = 0, high = 0, count = 0;
  };
  std::vector<Bin> bins() const;  // ascending

 private:
  void count(float x);

  std::vector<uint64_t> positive_, negative_;  // empty until there are such numbers
  uint64_t zeros_ = 0, seen_ = 0, strange_ = 0;
  float min_ = 0, max_ = 0;
};

}  // namespace cameo::quant
