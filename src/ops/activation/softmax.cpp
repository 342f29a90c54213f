// Softmax, LogSoftmax, Hardmax: along one axis.
#include <algorithm>
#include <cmath>

#include "kernels/axis.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/revisions.h"
#include "ops/on.h"
#include "ops/operands.h"

namespace cameo::ops {

namespace {

// Before 13 everything from the axis on was one axis. It is the same when what follows the axis has size 1.
bool is_last(const Fact& x, int64_t axis) {
  if (axis == -1) return true;
  if (!x.has_rank()) return false;
  const auto first = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis) + 1;
  return std::all_of(x.shape().begin() + static_cast<std::ptrdiff_t>(std::min(first, x.shape().size())),
                     x.shape().end(), [](Dim d) { return d.is(1); });
}

template <class Attrs>
void lift_flattened(Upgrade& u) {
  const int64_t axis = u.take_int("axis").value_or(1);
  const Fact& x = u.fact(u.input(0));
  if (is_last(x, axis) && (!x.has_rank() || axis < x.rank())) return u.set("axis", axis);
  On& on = u.on;
  const ValueId flat = on.Flatten(u.input(0), op::Flatten{.axis = axis});
  const ValueId normal = on.make(Attrs{.axis = -1}, {flat}, 1)[0];
  u.replace({on.Reshape(normal, on.Shape(u.input(0)))});
}

void say_last_axis(Downgrade& d) {
  const int64_t axis = d.take_int("axis").value_or(-1);
  if (!d.input(0) || !is_last(d.fact(d.input(0)), axis)) d.refuse("an axis that is not the last");
  d.set("axis", axis);
}

constexpr Revision with_axis(void (*up)(Upgrade&)) { return {13, up, say_last_axis}; }
constexpr Revision plain_since_11 = {11, nullptr, [](Downgrade& d) { d.nonnegative_axes("axis"); }};

// The axis is brought to the end and back.
template <class Attrs>
constexpr Expansion by_transposing = expansion<Attrs>(
    13, Exactness::exact,
    [](const Attrs& a, Expand& e) {
      const auto axis = axis_of(e, a.axis);
      if (!axis) return;
      std::vector<int64_t> perm;
      for (int64_t i = 0; i < e.fact(0).rank(); ++i) perm.push_back(i);
      std::swap(perm[static_cast<size_t>(*axis)], perm.back());
      On& on = e.on;
      const ValueId turned = on.Transpose(e.in(0), op::Transpose{.perm = perm});
      e.replace({on.Transpose(on.make(Attrs{.axis = -1}, {turned}, 1)[0], op::Transpose{.perm = perm})});
    },
    [](const Attrs& a, const Graph& g, NodeId n, int64_t) { return !is_last(input_fact(g, n, 0), a.axis); });

// The shape rule and the walk along the axis. F(line, dtype) writes the result of one line of carriers in place.
template <class Attrs, class F>
struct AlongAxis : Rules<Attrs> {
  static void infer(const Attrs& a, Infer& c) {
    c.axis(a.axis, c.rank(0));
    infer_like_first(c);
  }
  static void eval(const Attrs& a, Eval& k) {
    const Tensor& x = k.in(0);
    const AxisView view(x.shape(), k.axis(a.axis, x.rank()));
    k.out(0, with_float_carrier(x.dtype(), [&](auto c) {
            using C = decltype(c);
            const Loaded<C> in(x);
            std::vector<C> out(in.span().begin(), in.span().end()), line(static_cast<size_t>(view.size));
            if (!out.empty())
              view.each_line([&](int64_t first, int64_t step) {
                for (int64_t i = 0; i < view.size; ++i)
                  line[static_cast<size_t>(i)] = out[static_cast<size_t>(first + i * step)];
                F::template apply<C>(line, x.dtype());
                for (int64_t i = 0; i < view.size; ++i)
                  out[static_cast<size_t>(first + i * step)] = line[static_cast<size_t>(i)];
              });
            return store(x.dtype(), x.shape(), out);
          }));
  }
  static constexpr Revision revisions[] = {with_axis(lift_flattened<Attrs>), plain_since_11};
  static constexpr Expansion expansions[] = {by_transposing<Attrs>};
};

// Half floats round at every step, as in ONNX's reference. That adds bf16 in bf16, which loses the small terms of a
// long row: there the sum is exact.
struct SoftmaxLine {
  static constexpr size_t longest_stepwise_sum = 32;
  static double rounded(DType t, double v) { return bits(t) == 16 ? decode_float(t, encode_float(t, v)) : v; }

  template <class C>
  static void apply(std::span<C> line, DType t) {
    const C most = *std::max_element(line.begin(), line.end());
    const bool stepwise = t == DType::bf16 && line.size() <= longest_stepwise_sum;
    double sum = 0;
    for (C& v : line) {
      v = static_cast<C>(
          rounded(t, static_cast<double>(std::exp(static_cast<C>(rounded(t, static_cast<double>(v - most)))))));
      sum += static_cast<double>(v);
      if (stepwise) sum = rounded(t, sum);
    }
    sum = rounded(t, sum);
    for (C& v : line) v = static_cast<C>(static_cast<double>(v) / sum);
  }
};
struct LogSoftmaxLine {
  template <class C>
  static void apply(std::span<C> line, DType) {
    const C most = *std::max_element(line.begin(), line.end());
    double sum = 0;
    for (const C v : line) sum += std::exp(static_cast<double>(v - most));
    const double log_sum = std::log(sum);
    for (C& v : line) v = static_cast<C>(static_cast<double>(v - most) - log_sum);
  }
};
struct HardmaxLine {
  template <class C>
  static void apply(std::span<C> line, DType) {
    const auto first = std::max_element(line.begin(), line.end()) - line.begin();
    std::fill(line.begin(), line.end(), C{});
    line[static_cast<size_t>(first)] = 1;
  }
};

constexpr OpRules table[] = {
    rules<AlongAxis<op::Softmax, SoftmaxLine>>(),
    rules<AlongAxis<op::LogSoftmax, LogSoftmaxLine>>(),
    rules<AlongAxis<op::Hardmax, HardmaxLine>>(),
};

}  // namespace

std::span<const OpRules> softmax_rules() { return table; }

}  // namespace cameo::ops
