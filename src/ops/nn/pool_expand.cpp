#include "ops/nn/pool_expand.h"

#include <algorithm>

namespace cameo::ops {

bool is_dilated(const std::optional<std::vector<int64_t>>& dilations) {
  return dilations && std::any_of(dilations->begin(), dilations->end(), [](int64_t d) { return d != 1; });
}

PooledTaps pooled_taps(Expand& e, ValueId x, const WindowAttrs& w, const std::vector<int64_t>& kernel, ValueId filler) {
  constexpr int64_t most_taps = 256;
  On& on = e.on;
  PooledTaps out;
  const auto refuse = [&](std::string why) {
    e.refuse(std::move(why));
    return PooledTaps();
  };
  if (!on.has_rank(x) || on.rank(x) != static_cast<int64_t>(kernel.size()) + 2) return refuse("the rank is not known");
  if (!w.problem.empty()) return refuse(w.problem);
  constexpr int64_t most = 1 << 20;
  const auto sane = [](const std::vector<int64_t>& v, int64_t least) {
    return std::all_of(v.begin(), v.end(), [least](int64_t number) { return number >= least && number <= most; });
  };
  if (!sane(kernel, 1) || !sane(w.strides, 1) || !sane(w.dilations, 1) || !sane(w.pads, 0) ||
      product(kernel) > most_taps)
    return refuse("the window is too large to be written out");
  const size_t n = kernel.size();
  const Shape shape = on.shape(x);
  const auto sizes = known_shape(Shape(shape.begin() + 2, shape.end()));
  std::vector<int64_t> pads(2 * (n + 2), 0), reach(n);
  for (size_t i = 0; i < n; ++i) reach[i] = (kernel[i] - 1) * w.dilations[i] + 1;
  if (sizes) {
    out.windows = make_windows(w, *sizes, kernel);
    if (!out.windows->problem.empty()) return refuse(out.windows->problem);
    if (out.windows->out_count() > most) return refuse("there are too many windows to be written out");
    for (size_t i = 0; i < n; ++i) {
      pads[i + 2] = out.windows->begin[i];
      pads[n + 4 + i] = (out.windows->out[i] - 1) * w.strides[i] + reach[i] - (*sizes)[i] - out.windows->begin[i];
    }
  } else {
    if (w.same() || w.ceil_mode) return refuse("padding that depends on sizes known only when the model runs");
    for (size_t i = 0; i < n; ++i) pads[i + 2] = w.pads[i], pads[n + 4 + i] = w.pads[n + i];
  }
  out.padded = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p > 0; });
  const bool moved = std::any_of(pads.begin(), pads.end(), [](int64_t p) { return p != 0; });
  const ValueId padded = moved ? on.Pad(x, on.ints(pads), filler) : x;
  std::vector<int64_t> tap(n, 0), axes;
  for (size_t i = 0; i < n; ++i) axes.push_back(static_cast<int64_t>(i) + 2);
  do {
    std::vector<int64_t> starts, ends;
    for (size_t i = 0; i < n; ++i) {
      const int64_t at = tap[i] * w.dilations[i], left = reach[i] - 1 - at;
      starts.push_back(at);
      ends.push_back(left ? -left : INT32_MAX);
    }
    out.taps.push_back(on.Slice(padded, on.ints(starts), on.ints(ends), on.ints(axes), on.ints(w.strides)));
  } while (next_index(tap, kernel));
  return out;
}

}  // namespace cameo::ops
