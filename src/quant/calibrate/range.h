// From the distribution of a value to the range that its quantized form covers.
#pragma once

#include <optional>
#include <string_view>

#include "quant/calibrate/curve.h"
#include "quant/calibrate/histogram.h"

namespace cameo::quant {

enum class Method : uint8_t { automatic, minmax, percentile, entropy, mse, margin };
inline constexpr std::string_view method_names[] = {"auto", "minmax", "percentile", "entropy", "mse", "margin"};

struct Range {
  double low = 0, high = 0;
  friend bool operator==(const Range&, const Range&) = default;
};
Range joined(const Range& a, const Range& b);

// The grid of a quantized type.
struct Grid {
  int bits = 8;
  bool is_signed = false;
  bool symmetric = false;  // zero point 0, and as many steps on either side
};

// real = (q - zero) * scale
struct Scale {
  double scale = 1;
  int64_t zero = 0;
};
int64_t least_level(const Grid& grid);
int64_t most_level(const Grid& grid);
// Zero is always representable exactly: padding is.
Scale scale_of(const Range& range, const Grid& grid);
Range covered(const Scale& scale, const Grid& grid);

// The mean square of the difference that quantizing to this range makes, behind what readers make of the value.
double expected_error(const Histogram& h, const Scale& scale, const Grid& grid, const Curve& response = {});
double mean_square(const Histogram& h);

// `percentile`: the share of numbers inside, in percent. Precondition: the method is neither automatic nor margin,
// which needs the extremes of samples.
// `mse` looks for the least error behind `response`.
Range range_of(const Histogram& h, Method method, const Grid& grid, double percentile, const Curve& response = {});

}  // namespace cameo::quant
