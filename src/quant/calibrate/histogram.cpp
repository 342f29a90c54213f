#include "quant/calibrate/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace cameo::quant {

namespace {

constexpr uint32_t mantissa_shift = 18;  // of a float's bits: what is left is the exponent and five bits after it
constexpr uint32_t first_key = (127 + Histogram::lowest_exponent) * Histogram::bins_per_octave;
constexpr uint32_t last_key = first_key + static_cast<uint32_t>(Histogram::bins_per_sign) - 1;
constexpr uint32_t infinity_bits = 0x7f800000;

double bound(size_t bin) {
  const auto octave = static_cast<int>(bin / Histogram::bins_per_octave);
  const double part = static_cast<double>(bin % Histogram::bins_per_octave) / Histogram::bins_per_octave;
  return std::ldexp(1 + part, octave + Histogram::lowest_exponent);
}

struct Extremes {
  float low = INFINITY, high = -INFINITY;
};

// Of the finite numbers; in lanes, so that it is a vector loop.
Extremes extremes(std::span<const float> numbers) {
  constexpr size_t lanes = 16;
  float low[lanes], high[lanes];
  std::fill(low, low + lanes, INFINITY);
  std::fill(high, high + lanes, -INFINITY);
  size_t i = 0;
  for (; i + lanes <= numbers.size(); i += lanes)
    for (size_t j = 0; j < lanes; ++j) {
      const float x = numbers[i + j];
      low[j] = x < low[j] ? x : low[j];  // false for NaN
      high[j] = x > high[j] ? x : high[j];
    }
  for (; i < numbers.size(); ++i) {
    low[0] = numbers[i] < low[0] ? numbers[i] : low[0];
    high[0] = numbers[i] > high[0] ? numbers[i] : high[0];
  }
  const Extremes out{*std::min_element(low, low + lanes), *std::max_element(high, high + lanes)};
  if (std::isfinite(out.low) && std::isfinite(out.high)) return out;
  Extremes finite;
  for (const float x : numbers)
    if (std::isfinite(x)) finite.low = std::min(finite.low, x), finite.high = std::max(finite.high, x);
  return finite;
}

}  // namespace

// Piece by piece: what the bins count of a piece is in the cache then.
std::pair<double, double> Histogram::add(std::span<const float> numbers, size_t most) {
  constexpr size_t piece = 4096;
  Extremes range;
  const uint64_t strange_before = strange_;
  // An odd step meets every channel, however the axes lie.
  const size_t step = numbers.size() <= most ? 1 : (numbers.size() / most) | 1;
  size_t next = 0;
  for (size_t from = 0; from < numbers.size(); from += piece) {
    const auto part = numbers.subspan(from, std::min(piece, numbers.size() - from));
    const Extremes here = extremes(part);
    range = {std::min(range.low, here.low), std::max(range.high, here.high)};
    if (here.high > 0) positive_.resize(bins_per_sign);
    if (here.low < 0) negative_.resize(bins_per_sign);
    for (; next < from + part.size(); next += step) count(numbers[next]);
  }
  if (range.low > range.high) {  // none is finite
    strange_ = strange_before + numbers.size();
    return {0, 0};
  }
  min_ = seen_ ? std::min(min_, range.low) : range.low;
  max_ = seen_ ? std::max(max_, range.high) : range.high;
  seen_ += numbers.size() - (strange_ - strange_before);
  return {static_cast<double>(range.low), static_cast<double>(range.high)};
}

void Histogram::count(float x) {
  const auto bits = std::bit_cast<uint32_t>(x), magnitude = bits & 0x7fffffff;
  const uint32_t key = magnitude >> mantissa_shift;
  if (magnitude >= infinity_bits) ++strange_;
  else if (key < first_key) ++zeros_;
  else (bits >> 31 ? negative_ : positive_)[std::min(key, last_key) - first_key] += 1;
}

void Histogram::merge(const Histogram& other) {
  if (other.seen_) {
    min_ = seen_ ? std::min(min_, other.min_) : other.min_;
    max_ = seen_ ? std::max(max_, other.max_) : other.max_;
  }
  const auto sum = [](std::vector<uint64_t>& into, const std::vector<uint64_t>& from) {
    into.resize(std::max(into.size(), from.size()));
    for (size_t i = 0; i < from.size(); ++i) into[i] += from[i];
  };
  sum(positive_, other.positive_);
  sum(negative_, other.negative_);
  zeros_ += other.zeros_;
  seen_ += other.seen_;
  strange_ += other.strange_;
}

double Histogram::total() const {
  double out = static_cast<double>(zeros_);
  for (const uint64_t n : positive_) out += static_cast<double>(n);
  for (const uint64_t n : negative_) out += static_cast<double>(n);
  return out;
}

std::vector<Histogram::Bin> Histogram::bins() const {
  std::vector<Bin> out;
  for (size_t i = negative_.size(); i-- > 0;)
    if (negative_[i])
      out.push_back({std::max<double>(-bound(i + 1), min_), std::max<double>(-bound(i), min_),
                     static_cast<double>(negative_[i])});
  if (zeros_) out.push_back({0, 0, static_cast<double>(zeros_)});
  for (size_t i = 0; i < positive_.size(); ++i)
    if (positive_[i])
      out.push_back(
          {std::min<double>(bound(i), max_), std::min<double>(bound(i + 1), max_), static_cast<double>(positive_[i])});
  // Numbers beyond the last bin reach to the extremes.
  if (!out.empty() && out.front().low > min_ && min_ < 0) out.front().low = min_;
  if (!out.empty() && out.back().high < max_ && max_ > 0) out.back().high = max_;
  return out;
}

}  // namespace cameo::quant
