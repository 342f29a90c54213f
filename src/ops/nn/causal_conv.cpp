// CausalConvWithState: a convolution over the past.
#include <cmath>
#include <limits>

#include "ops/computed.h"
#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/expansions.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct CausalConvWithState : Rules<op::CausalConvWithState> {
  using A = op::CausalConvWithState;
  static bool silu(const A& a) { return a.activation == "silu" || a.activation == "swish"; }

  static void infer(const A& a, Infer& c) {
    if (c.rank(0) != 3 || c.rank(1) != 3)
      c.fail("infer.rank", cat("input and weight have ranks ", c.rank(0), " and ", c.rank(1), ": 3 is wanted"));
    if (!silu(a) && a.activation != "none")
      c.fail("infer.attribute", cat("activation '", a.activation, "' is not one of none, silu, swish"));
    c.same(c.dim(0, 1), c.dim(1, 0), "the input's channels and the weight's");
    c.same(c.dim(1, 1), 1, "the weight's second size");
    if (c.dim(1, 2).is(0)) c.fail("infer.mismatch", "the weight has no taps");
    if (c.has(2)) want_per_channel(c, {2}, c.dim(0, 1));
    if (c.has(3)) want_shape(c, 3, {c.dim(0, 0), c.dim(0, 1), c.dim(1, 2) - 1}, "past_state");
    c.out(0, c.shape(0));
    c.out(1, {c.dim(0, 0), c.dim(0, 1), c.dim(1, 2) - 1});
  }

  static void eval(const A& a, Eval& k) {
    const Tensor& x = k.in(0);
    const Tensor& w = k.in(1);
    if (x.rank() != 3 || w.rank() != 3 || w.shape()[0] != x.shape()[1] || w.shape()[1] != 1 || w.shape()[2] < 1)
      k.fail("eval.shape", "the weight must be [channels, 1, length]");
    const int64_t batch = x.shape()[0], channels = x.shape()[1], length = x.shape()[2], past = w.shape()[2] - 1,
                  wide = length + past;
    if (k.has(2) && k.in(2).count() != channels)
      k.fail("eval.shape", cat("a bias of ", k.in(2).count(), " for ", channels, " channels"));
    if (k.has(3) && k.in(3).shape() != std::vector<int64_t>{batch, channels, past})
      k.fail("eval.shape", "past_state does not suit the weight");
    const Tensor parts[] = {k.has(3) ? k.in(3) : zeros(x.dtype(), {batch, channels, past}), x};
    const Tensor padded = concat(parts, 2);
    const Loaded<double> v(padded), weight(w), bias(k.has(2) ? k.in(2) : zeros(DType::f32, {channels}));
    std::vector<double> y(static_cast<size_t>(x.count()));
    for (int64_t r = 0; r < batch * channels; ++r)
      for (int64_t t = 0; t < length; ++t) {
        const int64_t c = r % channels;
        double sum = bias[c];
        for (int64_t i = 0; i <= past; ++i) sum += v[r * wide + t + i] * weight[c * (past + 1) + i];
        y[static_cast<size_t>(r * length + t)] = silu(a) ? sum / (1 + std::exp(-sum)) : sum;
      }
    k.out(0, store(x.dtype(), x.shape(), y));
    const int64_t strides[] = {channels * wide, wide, 1};
    k.out(1, strided(padded, {batch, channels, past}, strides, length));
  }

  static void expand(const A& a, Expand& e) {
    On& on = e.on;
    if (!ranks_known(e)) return e.refuse("the rank of an operand is unknown");
    const auto channels = e.fact(0).shape()[1].known(), taps = e.fact(1).shape()[2].known();
    if (!channels || !taps) return e.refuse("channels or the weight's length are unknown");
    ValueId padded = e.in(0);
    if (e.has(3)) padded = concat_values(on, {e.in(3), e.in(0)}, 2);
    else if (*taps > 1) padded = on.Pad(e.in(0), on.ints({0, 0, *taps - 1, 0, 0, 0}));
    ValueId y = on.Conv(padded, e.in(1), e.in(2), {.group = *channels});
    if (silu(a)) y = on.Mul(y, on.Sigmoid(y));
    std::vector<ValueId> out{y};
    if (e.outputs() > 1) {
      if (*taps == 1) return e.refuse("an empty state");
      out.push_back(slice_axis(on, padded, 2, 1 - *taps, std::numeric_limits<int64_t>::max()));
    }
    e.replace(std::move(out));
  }
  static constexpr Expansion expansions[] = {
      expansion<A>(27, Exactness::rounding, [](const A& a, Expand& e) { expand(a, e); })};
};

constexpr OpRules table[] = {rules<CausalConvWithState>()};

}  // namespace

std::span<const OpRules> causal_conv_rules() { return table; }

}  // namespace cameo::ops
