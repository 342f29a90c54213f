#include "quant/calibrate/histogram.h"

#include <algorithm>
#include <cmath>

#include "engine/simd/row_moments.h"

namespace cameo::quant {

namespace {

constexpr uint32_t mantissa_shift = 18;  // of a float's bits: what is left is the exponent and five bits after it
constexpr uint32_t first_key = (127 + Histogram::lowest_exponent) * Histogram::bins_per_octave;
constexpr uint32_t last_key = first_key + static_cast<uint32_t>(Histogram::bins_per_sign) - 1;

constexpr engine::LogBins log_bins{mantissa_shift, first_key, last_key, Histogram::bins_per_sign};

double bound(size_t bin) {
  const auto octave = static_cast<int>(bin / Histogram::bins_per_octave);
  const double part = static_cast<double>(bin % Histogram::bins_per_octave) / Histogram::bins_per_octave;
  return std::ldexp(1 + part, octave + Histogram::lowest_exponent);
}

}  // namespace

// An odd step meets every channel, however the axes lie.
Histogram::Filling::Filling(Histogram& h, size_t numbers, size_t most, uint32_t weight)
    : h_(h),
      strange_before_(h.strange_),
      weight_(numbers <= most ? 1 : weight),
      step_(numbers <= most ? 1 : (numbers / most) | 1),
      low_(INFINITY),
      high_(-INFINITY) {}

void Histogram::Filling::piece(std::span<const float> numbers, float low, float high) {
  if (low == -INFINITY || high == INFINITY) {
    low = INFINITY, high = -INFINITY;
    for (const float x : numbers)
      if (std::isfinite(x)) low = std::min(low, x), high = std::max(high, x);
  }
  low_ = std::min(low_, low), high_ = std::max(high_, high);
  count(numbers);
}

// What is selected of a piece, some hundreds at a time: first all places, which takes no branches, then the counts.
void Histogram::Filling::count(std::span<const float> numbers) {
  constexpr size_t most = 256;
  const size_t end = done_ + numbers.size();
  while (next_ < end) {
    float some[most];
    uint16_t place[most];
    size_t n = 0;
    for (; n < most && next_ < end; ++n, next_ += step_) some[n] = numbers[next_ - done_];
    engine::bins_of_row(some, place, static_cast<int64_t>(n), log_bins);
    if (open_ + n > UINT16_MAX) flush();
    for (size_t i = 0; i < n; ++i) ++counts_[i % 2][place[i]];
    open_ += n;
  }
  done_ = end;
}

void Histogram::Filling::flush() {
  const auto count = [&](size_t at) { return uint64_t{counts_[0][at]} + counts_[1][at]; };
  h_.zeros_ += count(0) * weight_;
  h_.strange_ += count(places - 1);
  const auto add = [&](std::vector<uint64_t>& bins, bool any, size_t first) {
    if (!any) return;
    bins.resize(bins_per_sign);
    engine::add_counts_row(bins.data(), counts_[0].data() + first, counts_[1].data() + first, bins_per_sign, weight_);
  };
  add(h_.positive_, high_ > 0, 1);
  add(h_.negative_, low_ < 0, 1 + bins_per_sign);
  counts_ = {};
  open_ = 0;
}

std::pair<double, double> Histogram::Filling::finish() {
  flush();
  if (low_ > high_) {  // none is finite
    h_.strange_ = strange_before_ + done_;
    return {0, 0};
  }
  h_.min_ = h_.seen_ ? std::min(h_.min_, low_) : low_;
  h_.max_ = h_.seen_ ? std::max(h_.max_, high_) : high_;
  h_.seen_ += done_ - (h_.strange_ - strange_before_);
  return {static_cast<double>(low_), static_cast<double>(high_)};
}

std::pair<double, double> Histogram::add(std::span<const float> numbers, size_t most, uint32_t weight) {
  constexpr size_t piece = 4096;
  Filling filling(*this, numbers.size(), most, weight);
  for (size_t from = 0; from < numbers.size(); from += piece) {
    const auto part = numbers.subspan(from, std::min(piece, numbers.size() - from));
    float low = 0, high = 0;
    engine::extremes_of_row(part.data(), static_cast<int64_t>(part.size()), &low, &high);
    filling.piece(part, low, high);
  }
  return filling.finish();
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

Histogram Histogram::mapped(const std::function<double(double)>& rising) const {
  constexpr int parts = 8;  // of a bin, which the function may make wider
  Histogram out;
  if (empty()) return out;
  out.min_ = static_cast<float>(rising(static_cast<double>(min_)));
  out.max_ = static_cast<float>(rising(static_cast<double>(max_)));
  out.seen_ = seen_, out.strange_ = strange_;
  for (const Bin& b : bins())
    for (int part = 0; part < parts; ++part) {
      const auto y = static_cast<float>(rising(b.low + (b.high - b.low) * (part + 0.5) / parts));
      uint16_t at = 0;
      engine::bins_of_row(&y, &at, 1, log_bins);
      std::vector<uint64_t>& bins = at > bins_per_sign ? out.negative_ : out.positive_;
      if (at == 0) {
        out.zeros_ += static_cast<uint64_t>(b.count);
      } else {
        bins.resize(bins_per_sign);
        bins[(at - 1u) % bins_per_sign] += static_cast<uint64_t>(b.count);
      }
    }
  return out;
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
