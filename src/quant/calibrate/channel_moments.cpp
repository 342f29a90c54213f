#include "quant/calibrate/channel_moments.h"

#include <algorithm>
#include <cmath>

#include "engine/simd/row_moments.h"

namespace cameo::quant {

namespace {

constexpr int64_t most_numbers = 1 << 14;  // of a value in one sample, where they lie apart
constexpr int64_t long_run = 256;
constexpr int64_t piece = 4096;
constexpr int64_t exact_rows = 256;  // whose sums f32 holds

int64_t product(std::span<const int64_t> dims) {
  int64_t out = 1;
  for (const int64_t d : dims) out *= d;
  return out;
}

}  // namespace

void ChannelMoments::reserve(size_t channels) {
  sum.resize(std::max(sum.size(), channels));
  square.resize(sum.size());
  low.resize(sum.size());
  high.resize(sum.size());
}

bool ChannelMoments::in_runs(std::span<const int64_t> dims, size_t place) {
  return product(dims.subspan(place + 1)) >= long_run;
}

void ChannelMoments::add_runs(std::span<const float> numbers, std::span<const int64_t> dims, size_t place,
                              const Seen& seen) {
  const auto channels = static_cast<size_t>(dims[place]);
  const int64_t outer = product(dims.first(place)), inner = product(dims.subspan(place + 1));
  reserve(channels);
  const float* x = numbers.data();
  for (int64_t o = 0; o < outer; ++o)
    for (size_t c = 0; c < channels; ++c)
      for (int64_t left = inner; left > 0; left -= piece) {
        const int64_t n = std::min(left, piece);
        const engine::RowMoments m = engine::moments_of_row(x, n);
        if (std::isfinite(m.sum) && std::isfinite(m.square)) {
          sum[c] += static_cast<double>(m.sum), square[c] += static_cast<double>(m.square);
          low[c] = std::min(low[c], m.low), high[c] = std::max(high[c], m.high);
        } else {
          add_numbers(c, x, n, 1);
        }
        seen({x, static_cast<size_t>(n)}, m.low, m.high);
        x += n;
      }
  count += static_cast<double>(outer * inner);
}

// One by one, those that are not finite left out.
void ChannelMoments::add_numbers(size_t channel, const float* x, int64_t n, int64_t step) {
  double s = 0, q = 0;
  float bottom = low[channel], top = high[channel];
  for (int64_t i = 0; i < n; i += step) {
    if (!std::isfinite(x[i])) continue;
    const auto v = static_cast<double>(x[i]);
    s += v, q += v * v;
    bottom = std::min(bottom, x[i]), top = std::max(top, x[i]);
  }
  sum[channel] += s, square[channel] += q;
  low[channel] = bottom, high[channel] = top;
}

// Channels side by side: every `step`th row of them.
void ChannelMoments::add_rows(std::span<const float> numbers, int64_t step) {
  const auto channels = static_cast<int64_t>(sum.size());
  const int64_t rows = static_cast<int64_t>(numbers.size()) / channels;
  std::vector<float> part(static_cast<size_t>(channels) * 4);
  float *s = part.data(), *q = s + channels, *bottom = q + channels, *top = bottom + channels;
  for (int64_t from = 0; from < rows; from += exact_rows * step) {
    std::fill(part.begin(), part.end(), 0.0f);
    const int64_t to = std::min(rows, from + exact_rows * step);
    for (int64_t r = from; r < to; r += step)
      engine::add_moments_row(numbers.data() + r * channels, s, q, bottom, top, channels);
    for (int64_t c = 0; c < channels; ++c) {
      const auto at = static_cast<size_t>(c);
      if (std::isfinite(s[c]) && std::isfinite(q[c])) {
        sum[at] += static_cast<double>(s[c]), square[at] += static_cast<double>(q[c]);
        low[at] = std::min(low[at], bottom[c]), high[at] = std::max(high[at], top[c]);
      } else {
        add_numbers(at, numbers.data() + from * channels + c, (to - from) * channels - c, step * channels);
      }
    }
  }
  count += static_cast<double>((rows + step - 1) / step);
}

void ChannelMoments::add(std::span<const float> numbers, std::span<const int64_t> dims, size_t place) {
  const auto channels = static_cast<size_t>(dims[place]);
  if (numbers.empty() || channels == 0) return;
  reserve(channels);
  const int64_t outer = product(dims.first(place)), inner = product(dims.subspan(place + 1));
  const auto total = static_cast<int64_t>(numbers.size());
  const int64_t step = total <= most_numbers ? 1 : (total / most_numbers) | 1;
  if (inner == 1 && channels == sum.size()) return add_rows(numbers, step);
  int64_t first = 0;  // the first position that is counted of each outer one
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t c = 0; c < channels; ++c) {
      const float* x = numbers.data() + (o * static_cast<int64_t>(channels) + static_cast<int64_t>(c)) * inner;
      if (first < inner) add_numbers(c, x + first, inner - first, step);
    }
    for (; first < inner; first += step) count += 1;
    first -= inner;
  }
}

void ChannelMoments::merge(const ChannelMoments& other) {
  reserve(other.sum.size());
  for (size_t c = 0; c < other.sum.size(); ++c) {
    sum[c] += other.sum[c], square[c] += other.square[c];
    low[c] = std::min(low[c], other.low[c]), high[c] = std::max(high[c], other.high[c]);
  }
  count += other.count;
}

}  // namespace cameo::quant
