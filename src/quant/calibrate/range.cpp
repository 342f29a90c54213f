#include "quant/calibrate/range.h"

#include <algorithm>
#include <cmath>

#include "kernels/number_cast.h"
#include "quant/calibrate/divergence.h"
#include "support/error.h"

namespace cameo::quant {

Range joined(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

int64_t most_level(const Grid& g) { return (int64_t{1} << (g.is_signed ? g.bits - 1 : g.bits)) - 1; }
int64_t least_level(const Grid& g) {
  if (!g.is_signed) return 0;
  return g.symmetric ? -most_level(g) : -most_level(g) - 1;
}

Scale scale_of(const Range& range, const Grid& grid) {
  const double low = std::min(0.0, range.low), high = std::max(0.0, range.high);
  const auto least = least_level(grid), most = most_level(grid);
  // Smaller scales would be denormal, or 0, in f32.
  constexpr double smallest = 1e-30;
  if (grid.symmetric) {
    const double reach = std::max(-low, high);
    const double levels = grid.is_signed ? static_cast<double>(most) : static_cast<double>(most - most / 2 - 1);
    const double scale = reach / levels;
    return {static_cast<float>(scale > smallest ? scale : 1), grid.is_signed ? 0 : most / 2 + 1};
  }
  const double exact = (high - low) / static_cast<double>(most - least);
  if (!(exact > smallest)) return {1, std::clamp<int64_t>(0, least, most)};
  const double scale = static_cast<float>(exact);
  const double zero = std::nearbyint(static_cast<double>(least) - low / scale);
  return {scale,
          kernels::cast_number<int64_t>(std::clamp(zero, static_cast<double>(least), static_cast<double>(most)))};
}

Range covered(const Scale& s, const Grid& grid) {
  return {static_cast<double>(least_level(grid) - s.zero) * s.scale,
          static_cast<double>(most_level(grid) - s.zero) * s.scale};
}

namespace {

// The mean of (x - at)^2 for x spread evenly over the bin.
double mean_square_from(double low, double high, double at) {
  const double a = low - at, b = high - at;
  return (a * a + a * b + b * b) / 3;
}

// A bin with what readers make of its middle, and how much of an error they pass on there.
struct SeenBin {
  Histogram::Bin bin;
  double middle, at, slope;
};
std::vector<SeenBin> seen_bins(const Histogram& h, const Curve& response) {
  std::vector<SeenBin> out;
  for (const auto& b : h.bins()) {
    const double middle = (b.low + b.high) / 2;
    out.push_back({b, middle, response.at(middle), response.slope(middle)});
  }
  return out;
}

// The sum of squares over all numbers.
double error_of(const std::vector<SeenBin>& bins, const Scale& scale, const Grid& grid, const Curve& response) {
  const Range in = covered(scale, grid);
  const double step = scale.scale, low = response.at(in.low), high = response.at(in.high), none = response.at(0);
  double sum = 0;
  for (const SeenBin& s : bins) {
    const double width = s.bin.high - s.bin.low, most = std::max(std::fabs(s.bin.low), std::fabs(s.bin.high));
    const auto moved_to = [&](double y) { return (s.at - y) * (s.at - y) + s.slope * s.slope * width * width / 12; };
    if (s.middle < in.low) sum += s.bin.count * moved_to(low);
    else if (s.middle > in.high) sum += s.bin.count * moved_to(high);
    else if (most <= step / 2) sum += s.bin.count * moved_to(none);  // these become 0
    else sum += s.bin.count * s.slope * s.slope * step * step / 12;
  }
  return sum;
}

}  // namespace

double expected_error(const Histogram& h, const Scale& scale, const Grid& grid, const Curve& response) {
  const double count = h.total();
  return count > 0 ? error_of(seen_bins(h, response), scale, grid, response) / count : 0;
}

double mean_square(const Histogram& h) {
  double sum = 0, count = 0;
  for (const auto& b : h.bins()) sum += b.count * mean_square_from(b.low, b.high, 0), count += b.count;
  return count > 0 ? sum / count : 0;
}

namespace {

Range whole(const Histogram& h) { return {std::min(0.0, h.min()), std::max(0.0, h.max())}; }

// Where so many numbers of those that the bins count lie below.
double quantile(const std::vector<Histogram::Bin>& bins, double count) {
  double before = 0;
  for (const auto& b : bins) {
    if (before + b.count >= count) return b.low + (b.high - b.low) * std::clamp((count - before) / b.count, 0.0, 1.0);
    before += b.count;
  }
  return bins.empty() ? 0 : bins.back().high;
}

Range percentile_range(const Histogram& h, double percentile) {
  const auto bins = h.bins();
  const double total = h.total(), outside = total * (100 - percentile) / 100;
  return {std::min(0.0, quantile(bins, outside)), std::max(0.0, quantile(bins, total - outside))};
}

constexpr int least_part = 4;  // percent of the whole range that a cut leaves

// The least error of ranges that are cut on one side, then on the other.
Range mse_range(const Histogram& h, const Grid& grid, const Curve& response) {
  const auto bins = seen_bins(h, response);
  const auto error = [&](const Range& r) { return error_of(bins, scale_of(r, grid), grid, response); };
  const Range all = whole(h);
  Range best = all;
  double least = error(all);
  for (int round = 0; round < 2; ++round)
    for (const bool upper : {true, false})
      for (int part = 100; part >= least_part; part -= 2) {
        Range r = best;
        (upper ? r.high : r.low) = (upper ? all.high : all.low) * part / 100;
        if (const double e = error(r); e < least) least = e, best = r;
      }
  return best;
}

constexpr size_t linear_bins = 2048;

// Magnitudes (or, of an asymmetric grid, distances from the end) in bins of equal width.
std::vector<double> linear(const Histogram& h, double low, double high, bool magnitudes) {
  std::vector<double> out(linear_bins);
  const double width = (high - low) / linear_bins;
  for (auto b : h.bins()) {
    if (b.low == 0 && b.high == 0) continue;  // zero is a level of its own: cutting elsewhere does not change it
    if (magnitudes && b.high <= 0) b = {-b.high, -b.low, b.count};
    const double from = (b.low - low) / width, to = (b.high - low) / width;
    const auto first = static_cast<size_t>(std::clamp(from, 0.0, linear_bins - 1.0));
    const auto last = static_cast<size_t>(std::clamp(to, 0.0, linear_bins - 1.0));
    for (size_t i = first; i <= last; ++i) out[i] += b.count / static_cast<double>(last - first + 1);
  }
  return out;
}

Range entropy_range(const Histogram& h, const Grid& grid) {
  const Range all = whole(h);
  const double reach = std::max(-all.low, all.high);
  if (!(reach > 0)) return all;
  // One side, or both as magnitudes: the distribution is cut at the same distance from zero.
  const Cumulated p(linear(h, 0, reach, true));
  if (!(p.numbers.back() > 0)) return all;
  const bool two_sided = all.low < 0 && all.high > 0;
  const auto levels =
      static_cast<size_t>(most_level(grid) - least_level(grid) + 1) / (two_sided || grid.symmetric ? 2 : 1);
  size_t best = linear_bins;
  double least = divergence(p, linear_bins, levels);
  for (size_t kept = levels; kept < linear_bins; kept += 16)
    if (const double d = divergence(p, kept, levels); d < least) least = d, best = kept;
  const double limit = reach * static_cast<double>(best) / linear_bins;
  return {std::max(all.low, -limit), std::min(all.high, limit)};
}

}  // namespace

Range range_of(const Histogram& h, Method method, const Grid& grid, double percentile, const Curve& response) {
  if (h.empty()) return {};
  switch (method) {
    case Method::automatic: invariant(false, "the method is chosen by now"); [[fallthrough]];
    case Method::margin: invariant(false, "a histogram does not know single samples"); [[fallthrough]];
    case Method::minmax: return whole(h);
    case Method::percentile: return percentile_range(h, percentile);
    case Method::entropy: return entropy_range(h, grid);
    case Method::mse: return mse_range(h, grid, response);
  }
  return whole(h);
}

}  // namespace cameo::quant
