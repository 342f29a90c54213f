// How far numbers go in samples that were not seen, judged by how much the samples that were seen differ.
#pragma once

#include "quant/calibrate/range.h"

namespace cameo::quant {

class Extremes {
 public:
  void add(const Range& sample);  // the least and the largest number of one sample
  void merge(const Extremes& other);
  // The range expected of many times as many samples. It does not pass zero where no sample did.
  Range expected() const;

 private:
  struct End {
    double sum = 0, square = 0, most = 0;
  };
  double beyond(const End& e) const;
  double samples_ = 0;
  End low_, high_;  // of low ends the magnitudes below zero
};

}  // namespace cameo::quant
