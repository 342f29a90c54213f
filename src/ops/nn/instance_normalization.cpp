// InstanceNormalization and GroupNormalization: over the elements of a channel, or of a group of channels.
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/nn/moments.h"
#include "ops/nn/window.h"
#include "ops/on.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct InstanceNormalization : Rules<op::InstanceNormalization> {
  static void infer(const op::InstanceNormalization&, Infer& c) {
    if (c.rank(0) < 3)
      c.fail("infer.rank", cat("the input has rank ", c.rank(0), ": batch, channels and a spatial axis are wanted"));
    want_per_channel(c, {1, 2}, c.dim(0, 1));
    c.out(0, c.shape(0));
  }

  static void eval(const op::InstanceNormalization& a, Eval& k) {
    const Tensor& x = k.in(0);
    const ChannelPlanes p = channel_planes(k, x);
    if (k.in(1).count() != p.channels || k.in(2).count() != p.channels)
      k.fail("eval.shape", cat("scale and bias must have ", p.channels, " elements"));
    with_float_carrier(x.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const Loaded<C> v(x), scale(k.in(1)), bias(k.in(2));
      std::vector<C> y(static_cast<size_t>(x.count()));
      for (int64_t i = 0; i < p.batch * p.channels && p.plane; ++i) {
        const auto part = v.span().subspan(static_cast<size_t>(i * p.plane), static_cast<size_t>(p.plane));
        double mean = 0, var = 0;
        for (const C e : part) mean += static_cast<double>(e);
        mean /= static_cast<double>(p.plane);
        for (const C e : part) var += (static_cast<double>(e) - mean) * (static_cast<double>(e) - mean);
        const auto inverse =
            static_cast<C>(1 / std::sqrt(var / static_cast<double>(p.plane) + static_cast<double>(a.epsilon)));
        const int64_t c = i % p.channels;
        for (size_t j = 0; j < part.size(); ++j)
          y[static_cast<size_t>(i * p.plane) + j] = scale[c] * ((part[j] - static_cast<C>(mean)) * inverse) + bias[c];
      }
      k.out(0, store(x.dtype(), x.shape(), y));
    });
  }

  static constexpr Revision revisions[] = {{6, [](Upgrade& u) { u.drop("consumed_inputs"); }}};
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

constexpr OpRules table[] = {rules<InstanceNormalization>(), rules<GroupNormalization>()};

}  // namespace

std::span<const OpRules> instance_normalization_rules() { return table; }

}  // namespace cameo::ops
