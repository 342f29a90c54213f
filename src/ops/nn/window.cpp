#include "ops/nn/window.h"

#include <algorithm>

#include "ir/checked.h"
#include "support/error.h"

namespace cameo::ops {

namespace {

std::vector<int64_t> filled(const std::optional<std::vector<int64_t>>& given, size_t count, int64_t fallback,
                            std::string_view name, std::string& problem) {
  if (!given || given->empty()) return std::vector<int64_t>(count, fallback);
  if (given->size() == count) return *given;
  problem = cat("'", name, "' has ", given->size(), " entries where ", count, " are wanted");
  return std::vector<int64_t>(count, fallback);
}

int64_t at_least_zero(int64_t v) { return std::max<int64_t>(v, 0); }

// Rounds to plus infinity. Precondition: b > 0.
int64_t ceil_of(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }
int64_t floor_of(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

WindowAttrs window_attrs(std::string_view auto_pad, const std::optional<std::vector<int64_t>>& strides,
                         const std::optional<std::vector<int64_t>>& dilations,
                         const std::optional<std::vector<int64_t>>& pads, bool ceil_mode, size_t spatial) {
  constexpr int64_t largest = int64_t{1} << 31;  // keeps every product below inside int64
  WindowAttrs w;
  w.auto_pad = auto_pad;
  w.ceil_mode = ceil_mode;
  w.strides = filled(strides, spatial, 1, "strides", w.problem);
  w.dilations = filled(dilations, spatial, 1, "dilations", w.problem);
  w.pads = filled(pads, 2 * spatial, 0, "pads", w.problem);
  for (const int64_t s : w.strides)
    if (s < 1 || s > largest) w.problem = cat("a stride of ", s);
  for (const int64_t d : w.dilations)
    if (d < 1 || d > largest) w.problem = cat("a dilation of ", d);
  for (const int64_t p : w.pads)
    if (p < 0 || p > largest) w.problem = cat("a padding of ", p);
  if (auto_pad != "NOTSET" && auto_pad != "VALID" && !w.same())
    w.problem = cat("auto_pad '", auto_pad, "' is not one of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  if (auto_pad == "VALID" || w.same()) std::fill(w.pads.begin(), w.pads.end(), 0);
  return w;
}

std::string kernel_problem(const WindowAttrs& w, size_t i, int64_t kernel) {
  constexpr int64_t farthest = int64_t{1} << 31;  // positions times a plane's elements stay inside int64
  if (kernel < 1) return cat("a kernel of ", kernel);
  if (kernel > farthest || (kernel - 1) * w.dilations[i] >= farthest)
    return cat("a kernel of ", kernel, " with a dilation of ", w.dilations[i]);
  return "";
}

Dim window_count(const WindowAttrs& w, size_t i, Dim size, Dim kernel) {
  const Dim stride = w.strides[i];
  if (w.same()) return ceil_div(size, stride);
  const Dim begin = w.pads[i], end = w.pads[i + w.strides.size()], reach = covered(kernel, w.dilations[i]);
  if (!w.ceil_mode) return floor_div(size + begin + end - reach, stride) + 1;
  // Rounded up, but the last window must start inside the input or its left padding.
  const Dim rounded = ceil_div(size + begin + end - reach, stride) + 1, inside = ceil_div(size + begin, stride);
  if (const auto slack = (end + stride - reach).known()) return *slack <= 0 ? rounded : inside;
  return min(rounded, inside);
}

int64_t product(std::span<const int64_t> v) {
  int64_t n = 1;
  for (const int64_t d : v) n = checked_mul(n, d);
  return n;
}

int64_t Windows::in_count() const { return product(in); }
int64_t Windows::out_count() const { return product(out); }
int64_t Windows::kernel_count() const { return product(kernel); }

std::vector<int64_t> spatial_of(std::span<const int64_t> shape) { return {shape.begin() + 2, shape.end()}; }

Windows make_windows(const WindowAttrs& a, std::vector<int64_t> in, std::vector<int64_t> kernel) {
  Windows w;
  w.problem = a.problem;
  const size_t n = in.size();
  if (kernel.size() != n) w.problem = cat("a kernel of ", kernel.size(), " axes over ", n, " spatial axes");
  w.in = std::move(in), w.kernel = std::move(kernel), w.strides = a.strides, w.dilations = a.dilations;
  w.out.resize(n), w.begin.assign(a.pads.begin(), a.pads.begin() + static_cast<std::ptrdiff_t>(n)),
      w.end.assign(a.pads.begin() + static_cast<std::ptrdiff_t>(n), a.pads.end());
  if (!w.problem.empty()) return w;
  for (size_t i = 0; i < n; ++i) {
    if (w.problem = kernel_problem(a, i, w.kernel[i]); !w.problem.empty()) return w;
    w.out[i] = window_count(a, i, w.in[i], w.kernel[i]).literal();
    if (w.out[i] < 0 || (w.out[i] == 0 && w.in[i] > 0))
      return w.problem = cat("a kernel that covers ", covered(w.kernel[i], w.dilations[i]).literal(),
                             " does not fit in the padded size ", w.in[i] + w.begin[i] + w.end[i]),
             w;
    if (!a.same()) continue;
    const int64_t total =
        at_least_zero((w.out[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1 - w.in[i]);
    w.begin[i] = a.auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.end[i] = total - w.begin[i];
  }
  return w;
}

bool Tap::empty() const {
  for (size_t i = 0; i < lo.size(); ++i)
    if (lo[i] >= hi[i]) return true;
  return false;
}

Tap tap_at(const Windows& w, std::span<const int64_t> k) {
  Tap t;
  int64_t stride = 1;
  t.lo.resize(w.rank()), t.hi.resize(w.rank());
  for (size_t i = w.rank(); i-- > 0; stride *= w.in[i]) {
    const int64_t offset = k[i] * w.dilations[i] - w.begin[i];  // position = o * stride + offset, wanted in [0, in)
    t.lo[i] = at_least_zero(ceil_of(-offset, w.strides[i]));
    t.hi[i] = std::min(w.out[i], floor_of(w.in[i] - 1 - offset, w.strides[i]) + 1);
    t.start += offset * stride;
  }
  return t;
}

Reach::Reach(const Windows& w) : lo(w.rank()), hi(w.rank()), tap(w.rank()), step(w.rank()) {
  int64_t stride = 1;
  for (size_t i = w.rank(); i-- > 0; stride *= w.in[i]) step[i] = stride * w.dilations[i];
}

void Reach::at(const Windows& w, std::span<const int64_t> o) {
  int64_t stride = 1;
  first = 0;
  for (size_t i = w.rank(); i-- > 0; stride *= w.in[i]) {
    const int64_t start = o[i] * w.strides[i] - w.begin[i];
    lo[i] = at_least_zero(ceil_of(-start, w.dilations[i]));
    hi[i] = std::min(w.kernel[i], floor_of(w.in[i] - 1 - start, w.dilations[i]) + 1);
    first += (start + lo[i] * w.dilations[i]) * stride;
  }
}

bool next_index(std::span<int64_t> index, std::span<const int64_t> shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i]) return true;
    index[i] = 0;
  }
  return false;
}

}  // namespace cameo::ops
