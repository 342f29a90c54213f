// Normalisation over the last axes or over groups of channels.
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/nn/window.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

DType stash_dtype(int64_t stash_type) {
  const auto t = dtype_from_number(stash_type);
  return t && is_float(*t) ? *t : DType::f32;
}

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

struct Moments {
  double mean = 0, inverse = 0;
};
template <class C>
Moments moments_of(std::span<const C> row, double epsilon, bool centred) {
  Moments m;
  double sum = 0;
  const auto n = static_cast<double>(row.size());
  if (centred) {
    for (const C e : row) m.mean += static_cast<double>(e);
    m.mean /= n;
  }
  for (const C e : row) sum += (static_cast<double>(e) - m.mean) * (static_cast<double>(e) - m.mean);
  m.inverse = 1 / std::sqrt(sum / n + epsilon);
  return m;
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
    On& on = e.on;
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const int64_t rank = e.fact(0).rank(), axis = a.axis < 0 ? a.axis + rank : a.axis;
    const DType given = e.dtype(0), inside = bits(given) < 32 ? stash_dtype(a.stash_type) : given;
    const ValueId x = on.cast(e.in(0), inside), axes = axes_from(on, axis, rank);
    const ValueId mean = on.ReduceMean(x, axes);
    const ValueId diff = on.Sub(x, mean);
    const ValueId var = on.ReduceMean(on.Mul(diff, diff), axes);
    const ValueId deviation = on.Sqrt(on.Add(var, on.number(static_cast<double>(a.epsilon), inside)));
    ValueId y = on.Mul(on.cast(on.Div(diff, deviation), given), e.in(1));
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
    On& on = e.on;
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const int64_t rank = e.fact(0).rank(), axis = a.axis < 0 ? a.axis + rank : a.axis;
    const DType given = e.dtype(0), inside = bits(given) < 32 ? stash_dtype(a.stash_type) : given;
    const ValueId x = on.cast(e.in(0), inside), axes = axes_from(on, axis, rank);
    const ValueId square = on.ReduceMean(on.Mul(x, x), axes);
    const ValueId root = on.Sqrt(on.Add(square, on.number(static_cast<double>(a.epsilon), inside)));
    e.replace({on.Mul(on.cast(on.Div(x, root), e.dtype(1)), e.in(1))});
  }

  static constexpr Expansion expansions[] = {expansion<op::RMSNormalization>(
      23, Exactness::rounding, [](const op::RMSNormalization& a, Expand& e) { expand(a, e); })};
};

struct GroupNormalization : Rules<op::GroupNormalization> {
  static void infer(const op::GroupNormalization& a, Infer& c) {
    if (c.rank(0) < 2) c.fail("infer.rank", cat("the input has rank ", c.rank(0), ": batch and channels are wanted"));
    if (a.num_groups < 1) c.fail("infer.attribute", cat("num_groups is ", a.num_groups));
    if (const auto n = c.dim(0, 1).known(); n && *n % a.num_groups)
      c.fail("infer.mismatch", cat(*n, " channels cannot be split into ", a.num_groups, " groups"));
    want_per_channel(c, {1, 2}, c.dim(0, 1));
    c.out(0, c.shape(0));
  }

  static void eval(const op::GroupNormalization& a, Eval& k) {
    const Tensor& x = k.in(0);
    if (x.rank() < 2 || a.num_groups < 1 || x.shape()[1] % a.num_groups)
      k.fail("eval.shape", cat("the channels cannot be split into ", a.num_groups, " groups"));
    const int64_t channels = x.shape()[1], plane = product(spatial_of(x.shape()));
    if (k.in(1).count() != channels || k.in(2).count() != channels)
      k.fail("eval.shape", cat("scale and bias must have ", channels, " elements"));
    const int64_t length = channels / a.num_groups * plane;
    with_float_carrier(x.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const Loaded<C> v(x), scale(k.in(1)), bias(k.in(2));
      std::vector<C> y(static_cast<size_t>(x.count()));
      for (int64_t g = 0; length && g < x.count() / length; ++g) {
        const Moments m = moments_of(v.span().subspan(static_cast<size_t>(g * length), static_cast<size_t>(length)),
                                     static_cast<double>(a.epsilon), true);
        for (int64_t i = g * length; i < (g + 1) * length; ++i) {
          const int64_t c = i / plane % channels;
          y[static_cast<size_t>(i)] = (v[i] - static_cast<C>(m.mean)) * static_cast<C>(m.inverse) * scale[c] + bias[c];
        }
      }
      k.out(0, store(x.dtype(), x.shape(), y));
    });
  }

  // Each group is one channel of an InstanceNormalization.
  static void expand(const op::GroupNormalization& a, Expand& e) {
    On& on = e.on;
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const DType given = e.dtype(0), inside = bits(given) < 32 ? stash_dtype(a.stash_type) : given;
    const ValueId grouped = reshape_to(on, on.cast(e.in(0), inside), {0, a.num_groups, -1});
    const ValueId ones = on.constant(full(inside, {a.num_groups}, 1)),
                  none = on.constant(full(inside, {a.num_groups}, 0));
    const ValueId normal = on.cast(
        reshape_like(on, on.InstanceNormalization(grouped, ones, none, {.epsilon = a.epsilon}), e.in(0)), given);
    const ValueId scale = per_channel(on, e.in(1), e.fact(0).rank()), bias = per_channel(on, e.in(2), e.fact(0).rank());
    e.replace({on.Add(on.Mul(normal, scale), bias)});
  }

  // Before 21 scale and bias were per group.
  static void spread_groups(Upgrade& u) {
    On& on = u.on;
    const Fact& x = u.fact(u.input(0));
    const auto groups = u.take_int("num_groups").value_or(1);
    u.set("num_groups", groups);
    const auto channels = x.has_rank() && x.rank() > 1 ? x.shape()[1].known() : std::nullopt;
    if (groups < 1) throw error("model.upgrade", cat("GroupNormalization with ", groups, " groups"));
    ValueId sizes;
    if (channels) sizes = on.ints({groups, *channels / groups});
    else {
      const ValueId count = slice_axis(on, on.Shape(u.input(0)), 0, 1, 2);
      const ValueId head = on.ints({groups});
      sizes = concat_values(on, {head, on.Div(count, head)}, 0);
    }
    for (size_t i = 1; i < 3; ++i)
      u.set_input(i, reshape_to(on, on.Expand(unsqueeze(on, u.input(i), {1}), sizes), {-1}));
  }

  static constexpr Revision revisions[] = {{21, [](Upgrade& u) { spread_groups(u); }}};
  static constexpr Expansion expansions[] = {expansion<op::GroupNormalization>(
      21, Exactness::rounding, [](const op::GroupNormalization& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<LayerNormalization>(), rules<RMSNormalization>(), rules<GroupNormalization>()};

}  // namespace

std::span<const OpRules> layer_normalization_rules() { return table; }

}  // namespace cameo::ops
