// What readers make of a value, as a function of one number: an error of the value counts as far as they pass it on.
#pragma once

#include <vector>

namespace cameo::quant {

// Straight between evenly spaced points, flat beyond the first and the last. Without points: y = x.
struct Curve {
  double first = 0, step = 0;
  std::vector<double> points;

  double at(double x) const;
  double slope(double x) const;
};

}  // namespace cameo::quant
