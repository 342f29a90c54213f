// How far fewer levels change a distribution: what the method `entropy` makes small.
#pragma once

#include <cstddef>
#include <vector>

namespace cameo::quant {

// Sums of the bins before each place: what lies between two places costs one difference.
struct Cumulated {
  explicit Cumulated(const std::vector<double>& bins);
  std::vector<double> numbers{0}, own{0};  // own: n log n
  std::vector<size_t> filled{0};           // bins that are not empty
};

// Kullback-Leibler divergence of the first `kept` bins (what lies beyond added to the last) from the same numbers on
// `levels` levels, where the bins of a level that are not empty share its numbers evenly. Precondition: 0 < kept.
double divergence(const Cumulated& p, size_t kept, size_t levels);

}  // namespace cameo::quant
