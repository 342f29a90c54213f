#include "quant/calibrate/divergence.h"

#include <cmath>

#include "engine/simd/row_moments.h"

namespace cameo::quant {

namespace {

constexpr double nothing = 1e-9;  // of a level without numbers, to which those beyond are added

double times_log(double x) { return x > 0 ? x * std::log(x) : 0; }

}  // namespace

Cumulated::Cumulated(const std::vector<double>& bins) {
  for (const double n : bins) {
    numbers.push_back(numbers.back() + n);
    filled.push_back(filled.back() + (n > 0));
    own.push_back(own.back() + times_log(n));
  }
}

double divergence(const Cumulated& p, size_t kept, size_t levels) {
  const double total = p.numbers.back(), beyond = total - p.numbers[kept];
  const double last = p.filled[kept] > p.filled[kept - 1] ? p.numbers[kept] - p.numbers[kept - 1] : 0;
  // Of every level its numbers, and how many of them each of its bins gets; 0 and 1 where there are none.
  std::vector<double> sums(levels), shares(levels, 1.0);
  const size_t width = kept / levels, rest = kept % levels;
  for (size_t level = 0, from = 0, carried = 0; level < levels; ++level) {
    carried += rest;
    const size_t to = from + width + (carried >= levels), filled = p.filled[to] - p.filled[from];
    if (carried >= levels) carried -= levels;
    const double sum = p.numbers[to] - p.numbers[from];
    if (filled > 0 && sum > 0) sums[level] = sum, shares[level] = sum / static_cast<double>(filled);
    from = to;
  }
  const bool empty = sums.back() == 0;  // the level to which those beyond are added
  const double gone = empty ? nothing : shares.back();
  const double kept_whole = p.own[kept] - times_log(last) + times_log(last + beyond);
  const double on_levels = engine::sum_of_logs_row(sums.data(), shares.data(), static_cast<int64_t>(levels));
  return (kept_whole - on_levels - beyond * std::log(gone)) / total;
}

}  // namespace cameo::quant
