#include "quant/weights/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/number_format.h"

namespace cameo::quant {

namespace {

typedef float Four __attribute__((vector_size(16)));
typedef int32_t FourInts __attribute__((vector_size(16)));

Four load(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

struct Ends {
  float low, high;
};

Ends ends_of(std::span<const float> x) {
  size_t i = 0;
  float low = INFINITY, high = -INFINITY;
  if (x.size() >= 4) {
    Four least = load(x.data()), most = least;
    for (i = 4; i + 4 <= x.size(); i += 4) {
      const Four v = load(x.data() + i);
      least = v < least ? v : least;
      most = v > most ? v : most;
    }
    for (int k = 0; k < 4; ++k) low = std::min(low, least[k]), high = std::max(high, most[k]);
  }
  for (; i < x.size(); ++i) low = std::min(low, x[i]), high = std::max(high, x[i]);
  return {low, high};
}

// Half away from zero, of a number in [0, 255]: 0.5 less one unit keeps what lies just below a half below it.
constexpr float nearly_half = 0x1.fffffep-2F;

BlockScale symmetric_scale(float extreme, const BlockFormat& f) {
  return {-extreme / static_cast<float>(f.middle()), f.middle()};
}

BlockScale range_scale(float low, float high, const BlockFormat& f) {
  low = std::min(low, 0.0F), high = std::max(high, 0.0F);
  BlockScale out;
  out.scale = (high - low) / static_cast<float>(f.last());
  const float zero = out.scale != 0 ? 0.0F - low / out.scale : low;
  // Ends that are infinite leave no place for zero.
  if (!std::isnan(zero))
    out.zero = static_cast<uint8_t>(std::roundf(std::clamp(zero, 0.0F, static_cast<float>(f.last()))));
  return out;
}

}  // namespace

BlockScale round_to_nearest(std::span<const float> numbers, const BlockFormat& f) {
  const auto [low, high] = ends_of(numbers);
  if (!f.symmetric) return range_scale(low, high, f);
  return symmetric_scale(std::fabs(high) > std::fabs(low) ? high : low, f);
}

void to_levels(std::span<const float> numbers, const BlockScale& scale, const BlockFormat& f, uint8_t* levels) {
  const float factor = scale.scale != 0 ? 1.0F / scale.scale : 0.0F;
  const auto zero = static_cast<float>(scale.zero), last = static_cast<float>(f.last());
  size_t i = 0;
  const Four none = {0, 0, 0, 0}, most = none + last;
  for (; i + 4 <= numbers.size(); i += 4) {
    Four v = load(numbers.data() + i) * factor + zero;
    v = v > none ? v : none;  // NaN becomes 0
    v = v < most ? v : most;
    const FourInts level = __builtin_convertvector(v + nearly_half, FourInts);
    for (size_t k = 0; k < 4; ++k) levels[i + k] = static_cast<uint8_t>(level[k]);
  }
  for (; i < numbers.size(); ++i) {
    float v = numbers[i] * factor + zero;
    v = v > 0 ? v : 0;
    levels[i] = static_cast<uint8_t>(std::min(v, last) + nearly_half);
  }
}

double block_error(std::span<const float> numbers, std::span<const float> weights, const BlockScale& scale,
                   const BlockFormat& f) {
  uint8_t levels[256];
  double out = 0;
  for (size_t first = 0; first < numbers.size(); first += sizeof levels) {
    const auto part = numbers.subspan(first, std::min(sizeof levels, numbers.size() - first));
    to_levels(part, scale, f, levels);
    for (size_t i = 0; i < part.size(); ++i) {
      const float off = part[i] - static_cast<float>(static_cast<int>(levels[i]) - scale.zero) * scale.scale;
      out += static_cast<double>(off * off * (weights.empty() ? 1.0F : weights[first + i]));
    }
  }
  return out;
}

BlockScale searched(std::span<const float> numbers, std::span<const float> weights, const BlockFormat& f) {
  constexpr int steps = 20;
  constexpr float step = 0.02F;
  BlockScale best = round_to_nearest(numbers, f);
  double least = block_error(numbers, weights, best, f);
  const auto [low, high] = ends_of(numbers);
  const auto consider = [&](const BlockScale& s) {
    if (const double e = block_error(numbers, weights, s, f); e < least) least = e, best = s;
  };
  const float magnitude = std::max(std::fabs(low), std::fabs(high));
  for (int i = 0; i <= steps; ++i) {
    const float part = 1 - step * static_cast<float>(i);
    if (!f.symmetric) {
      consider(range_scale(low * part, high * part, f));
      continue;
    }
    consider(symmetric_scale(magnitude * part, f));
    consider(symmetric_scale(-magnitude * part, f));
  }
  return best;
}

BlockScale block_scale(std::span<const float> numbers, std::span<const float> weights, const BlockFormat& f,
                       BlockMethod method, DType stored) {
  BlockScale out = method == BlockMethod::rtn ? round_to_nearest(numbers, f) : searched(numbers, weights, f);
  if (stored != DType::f32)
    out.scale = ir::decode_float(stored, ir::encode_float(stored, static_cast<double>(out.scale)));
  return out;
}

void pack_levels(std::span<const uint8_t> levels, int64_t depth, const BlockFormat& f, std::byte* out) {
  const auto each = static_cast<size_t>(f.levels_per_byte());
  if (each == 1) return void(std::memcpy(out, levels.data(), levels.size()));
  const size_t bytes = levels.size() / each;
  for (size_t i = 0; i < bytes; ++i) {
    unsigned byte = 0;
    for (size_t k = 0; k < each; ++k)
      byte |= static_cast<unsigned>(levels[i * each + k]) << (static_cast<size_t>(f.bits) * k);
    out[i] = static_cast<std::byte>(byte);
  }
  const auto end = static_cast<size_t>(depth);
  const size_t first = end / each * each, stretch = static_cast<size_t>(f.block) * each;
  if (end % each == 0 || first % stretch == 0) return;
  for (size_t k = end % each; k < each; ++k)
    out[first / each] |= static_cast<std::byte>(levels[first - each + k] << (static_cast<size_t>(f.bits) * k));
}

void pack_zeros(std::span<const BlockScale> scales, const BlockFormat& f, std::byte* out) {
  const auto each = static_cast<size_t>(f.levels_per_byte());
  for (size_t i = 0; i * each < scales.size(); ++i) {
    unsigned byte = 0;
    for (size_t k = 0; k < each; ++k) {
      const unsigned zero = i * each + k < scales.size() ? scales[i * each + k].zero : f.middle();
      byte |= zero << (static_cast<size_t>(f.bits) * k);
    }
    out[i] = static_cast<std::byte>(byte);
  }
}

}  // namespace cameo::quant
