// LayerNormalization and RMSNormalization: over the last axes.
#include <algorithm>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/nn/moments.h"
#include "ops/nn/window.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

// Unidirectional broadcast of a parameter to x; a view when it already repeats along the leading axes.
Tensor spread(const Tensor& t, const std::vector<int64_t>& shape) {
  const auto n = t.shape().size();
  if (n <= shape.size() && std::equal(t.shape().begin(), t.shape().end(), shape.end() - static_cast<std::ptrdiff_t>(n)))
    return t;
  if (broadcast_shape(t.shape(), shape) != shape)
    throw error("eval.shape", "scale and bias must broadcast to the input");
  return expand_to(t, shape);
}

struct Rows {
  int64_t count, length;
};

Rows rows_of(const Tensor& x, int64_t axis) {
  const std::span<const int64_t> shape(x.shape());
  return {product(shape.first(static_cast<size_t>(axis))), product(shape.subspan(static_cast<size_t>(axis)))};
}

// What an expansion computes with: the input in the element type of the sums, and the axes that are summed over.
struct Widened {
  DType inside;
  ValueId x, axes;
};
Widened widened(Expand& e, int64_t axis, int64_t stash_type) {
  const DType given = e.dtype(0), inside = bits(given) < 32 ? stash_dtype(stash_type) : given;
  const int64_t rank = e.fact(0).rank();
  const ValueId x = e.on.cast(e.in(0), inside);
  return {inside, x, axes_from(e.on, axis < 0 ? axis + rank : axis, rank)};
}

struct LayerNormalization : Rules<op::LayerNormalization> {
  static void infer(const op::LayerNormalization& a, Infer& c) {
    const int64_t axis = c.axis(a.axis, c.rank(0));
    want_broadcast(c, c.shape(1), c.shape(0), "the scale");
    if (c.has(2)) want_broadcast(c, c.shape(2), c.shape(0), "the bias");
    c.out(0, c.shape(0));
    Shape reduced = c.shape(0);
    for (size_t i = static_cast<size_t>(axis); i < reduced.size(); ++i) reduced[i] = 1;
    c.out(1, stash_dtype(a.stash_type), reduced);
    c.out(2, stash_dtype(a.stash_type), reduced);
  }

  static void eval(const op::LayerNormalization& a, Eval& k) {
    const Tensor& x = k.in(0);
    const int64_t axis = k.axis(a.axis, x.rank());
    const Rows rows = rows_of(x, axis);
    with_float_carrier(x.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const Loaded<C> v(x), scale(spread(k.in(1), x.shape())),
          bias(k.has(2) ? spread(k.in(2), x.shape()) : full(DType::f32, {1}, 0));
      std::vector<C> y(static_cast<size_t>(x.count()));
      std::vector<double> means, inverses;
      for (int64_t r = 0; r < rows.count; ++r) {
        const auto row = v.span().subspan(static_cast<size_t>(r * rows.length), static_cast<size_t>(rows.length));
        const Moments m = moments_of(row, static_cast<double>(a.epsilon), true);
        means.push_back(m.mean), inverses.push_back(m.inverse);
        for (int64_t j = 0; j < rows.length; ++j) {
          const int64_t i = r * rows.length + j;
          y[static_cast<size_t>(i)] =
              (v[i] - static_cast<C>(m.mean)) * static_cast<C>(m.inverse) * scale[i % scale.size()] +
              bias[i % bias.size()];
        }
      }
      k.out(0, store(x.dtype(), x.shape(), y));
      std::vector<int64_t> reduced = x.shape();
      for (size_t i = static_cast<size_t>(axis); i < reduced.size(); ++i) reduced[i] = 1;
      k.out(1, store(stash_dtype(a.stash_type), reduced, means));
      k.out(2, store(stash_dtype(a.stash_type), reduced, inverses));
    });
  }

  static void expand(const op::LayerNormalization& a, Expand& e) {
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    On& on = e.on;
    const auto [inside, x, axes] = widened(e, a.axis, a.stash_type);
    const ValueId mean = on.ReduceMean(x, axes);
    const ValueId diff = on.Sub(x, mean);
    const ValueId var = on.ReduceMean(on.Mul(diff, diff), axes);
    const ValueId deviation = on.Sqrt(on.Add(var, on.number(static_cast<double>(a.epsilon), inside)));
    ValueId y = on.Mul(on.cast(on.Div(diff, deviation), e.dtype(0)), e.in(1));
    if (e.has(2)) y = on.Add(y, e.in(2));
    std::vector<ValueId> out{y};
    if (e.outputs() > 1) out.push_back(on.cast(mean, stash_dtype(a.stash_type)));
    if (e.outputs() > 2) out.push_back(on.cast(on.Reciprocal(deviation), stash_dtype(a.stash_type)));
    e.replace(std::move(out));
  }

  static constexpr Expansion expansions[] = {expansion<op::LayerNormalization>(
      17, Exactness::rounding, [](const op::LayerNormalization& a, Expand& e) { expand(a, e); })};
};

struct RMSNormalization : Rules<op::RMSNormalization> {
  static void infer(const op::RMSNormalization& a, Infer& c) {
    c.axis(a.axis, c.rank(0));
    want_broadcast(c, c.shape(1), c.shape(0), "the scale");
    c.out(0, c.shape(0));
  }

  static void eval(const op::RMSNormalization& a, Eval& k) {
    const Tensor& x = k.in(0);
    const Rows rows = rows_of(x, k.axis(a.axis, x.rank()));
    with_float_carrier(x.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const Loaded<C> v(x), scale(spread(k.in(1), x.shape()));
      std::vector<C> y(static_cast<size_t>(x.count()));
      for (int64_t r = 0; r < rows.count; ++r) {
        const Moments m =
            moments_of(v.span().subspan(static_cast<size_t>(r * rows.length), static_cast<size_t>(rows.length)),
                       static_cast<double>(a.epsilon), false);
        for (int64_t i = r * rows.length; i < (r + 1) * rows.length; ++i)
          y[static_cast<size_t>(i)] = v[i] * static_cast<C>(m.inverse) * scale[i % scale.size()];
      }
      k.out(0, store(k.in(1).dtype(), x.shape(), y));
    });
  }

  static void expand(const op::RMSNormalization& a, Expand& e) {
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    On& on = e.on;
    const auto [inside, x, axes] = widened(e, a.axis, a.stash_type);
    const ValueId square = on.ReduceMean(on.Mul(x, x), axes);
    const ValueId root = on.Sqrt(on.Add(square, on.number(static_cast<double>(a.epsilon), inside)));
    e.replace({on.Mul(on.cast(on.Div(x, root), e.dtype(1)), e.in(1))});
  }

  static constexpr Expansion expansions[] = {expansion<op::RMSNormalization>(
      23, Exactness::rounding, [](const op::RMSNormalization& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<LayerNormalization>(), rules<RMSNormalization>()};

}  // namespace

std::span<const OpRules> layer_normalization_rules() { return table; }

}  // namespace cameo::ops
