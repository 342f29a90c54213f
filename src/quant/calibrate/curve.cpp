#include "quant/calibrate/curve.h"

#include <algorithm>

namespace cameo::quant {

double Curve::at(double x) const {
  if (points.empty()) return x;
  const double place = std::clamp((x - first) / step, 0.0, static_cast<double>(points.size() - 1));
  const auto before = std::min(static_cast<size_t>(place), points.size() - 2);
  return points[before] + (points[before + 1] - points[before]) * (place - static_cast<double>(before));
}

double Curve::slope(double x) const {
  if (points.empty()) return 1;
  const double place = (x - first) / step;
  if (!(place >= 0 && place <= static_cast<double>(points.size() - 1))) return 0;
  const auto before = std::min(static_cast<size_t>(place), points.size() - 2);
  return (points[before + 1] - points[before]) / step;
}

}  // namespace cameo::quant
