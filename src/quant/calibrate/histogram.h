// How the numbers of a value are distributed, in a fixed amount of memory: bins with fixed, log-spaced bounds, so that
// histograms of different samples can be added. 32 bins to an octave, from 2^-40 to 2^24, on both sides of zero.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "quant/layer.h"

namespace cameo::quant {

class Histogram {
 public:
  static constexpr int bins_per_octave = 32, octaves = 64, lowest_exponent = -40;
  static constexpr size_t bins_per_sign = size_t{bins_per_octave} * octaves;

  static constexpr size_t selected = 1 << 13;

  // Minimum and maximum count every number; of more than `most` numbers the bins count an even selection.
  // Where it is a selection, each counts `weight` times: fewer of one sample are as much as more of another.
  // Returns the least and the largest of the finite ones, {0, 0} where there are none.
  std::pair<double, double> add(std::span<const float> numbers, size_t most = selected, uint32_t weight = 1);

  // The same in pieces, for whoever looks at them anyway: what the bins count of a piece is in the cache then.
  class Filling {
   public:
    Filling(Histogram& h, size_t numbers, size_t most = selected, uint32_t weight = 1);
    // `low` and `high`: its extremes, NaN left out; infinities may be among them.
    void piece(std::span<const float> numbers, float low, float high);
    std::pair<double, double> finish();

   private:
    // What is next to zero, the bins of each sign, and what is not finite.
    static constexpr size_t places = 1 + 2 * bins_per_sign + 1;
    void count(std::span<const float> numbers);
    void flush();

    Histogram& h_;
    uint64_t strange_before_;
    uint32_t weight_;
    size_t step_, next_ = 0, done_ = 0, open_ = 0;
    float low_, high_;
    // Numbers that follow each other are often equal: one table need not wait for the other's last sum.
    std::array<std::array<uint16_t, places>, 2> counts_{};
  };
  void merge(const Histogram& other);
  // Of what a rising function makes of the numbers; every one counts several times.
  Histogram mapped(const std::function<double(double)>& rising) const;

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
  std::vector<uint64_t> positive_, negative_;  // empty until there are such numbers
  uint64_t zeros_ = 0, seen_ = 0, strange_ = 0;
  float min_ = 0, max_ = 0;
};

}  // namespace cameo::quant
