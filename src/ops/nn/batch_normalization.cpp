// BatchNormalization.
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/nn/moments.h"
#include "ops/nn/window.h"
#include "ops/on.h"
#include "ops/op_def.h"
#include "ops/preconditions.h"

namespace cameo::ops {

namespace {

struct BatchNormalization : Rules<op::BatchNormalization> {
  static void infer(const op::BatchNormalization& a, Infer& c) {
    if (c.rank(0) < 1) c.fail("infer.rank", "the input is a scalar");
    const Dim channels = c.rank(0) > 1 ? c.dim(0, 1) : Dim(1);
    want_per_channel(c, {1, 2, 3, 4}, channels);
    if (c.out_count() > 1 && !a.training_mode)
      c.fail("infer.outputs", "running mean and variance are given only in training mode");
    c.out(0, c.shape(0));
    c.out(1, c.dtype(3), {channels});
    c.out(2, c.dtype(4), {channels});
  }

  static void eval(const op::BatchNormalization& a, Eval& k) {
    const Tensor& x = k.in(0);
    const ChannelPlanes p = channel_planes(k, x);
    for (size_t i = 1; i < 5; ++i)
      if (k.in(i).count() != p.channels)
        k.fail("eval.shape", cat("input ", i, " has ", k.in(i).count(), " elements for ", p.channels, " channels"));
    with_float_carrier(x.dtype(), [&](auto zero) {
      using C = decltype(zero);
      const Loaded<C> v(x), scale(k.in(1)), bias(k.in(2)), mean_in(k.in(3)), var_in(k.in(4));
      std::vector<C> y(static_cast<size_t>(x.count()));
      std::vector<double> mean(mean_in.span().begin(), mean_in.span().end()),
          var(var_in.span().begin(), var_in.span().end());
      if (a.training_mode) {
        measure<C>(p, v, mean, var);
        give_running(a, k, mean, var);
      }
      for (int64_t i = 0; i < x.count(); ++i) {
        const auto ch = i / p.plane % p.channels;
        const auto c = static_cast<size_t>(ch);
        y[static_cast<size_t>(i)] = scale[ch] * (v[i] - static_cast<C>(mean[c])) /
                                        std::sqrt(static_cast<C>(var[c]) + static_cast<C>(a.epsilon)) +
                                    bias[ch];
      }
      k.out(0, store(x.dtype(), x.shape(), y));
    });
  }

  template <class C>
  static void measure(const ChannelPlanes& p, const Loaded<C>& v, std::vector<double>& mean, std::vector<double>& var) {
    const auto n = static_cast<double>(p.batch * p.plane);
    for (int64_t c = 0; c < p.channels; ++c) {
      const auto sum = [&](auto f) {
        double total = 0;
        for (int64_t b = 0; b < p.batch; ++b)
          for (int64_t i = 0; i < p.plane; ++i) total += f(static_cast<double>(v[(b * p.channels + c) * p.plane + i]));
        return total;
      };
      const double m = sum([](double e) { return e; }) / n;
      mean[static_cast<size_t>(c)] = m;
      var[static_cast<size_t>(c)] = sum([m](double e) { return (e - m) * (e - m); }) / n;
    }
  }

  static void give_running(const op::BatchNormalization& a, Eval& k, const std::vector<double>& mean,
                           const std::vector<double>& var) {
    const auto blend = [&](size_t input, const std::vector<double>& now) {
      const Loaded<double> old(k.in(input));
      std::vector<double> out(now.size());
      const double m = static_cast<double>(a.momentum);
      for (size_t i = 0; i < out.size(); ++i) out[i] = old[static_cast<int64_t>(i)] * m + now[i] * (1 - m);
      return store(k.in(input).dtype(), k.in(input).shape(), out);
    };
    k.out(1, blend(3, mean));
    k.out(2, blend(4, var));
  }

  // Before 9, spatial = 0 normalised every activation by parameters of its own.
  static void per_activation(Upgrade& u, float epsilon) {
    On& on = u.on;
    const DType dtype = u.fact(u.input(4)).dtype() == DType::undefined ? DType::f32 : u.fact(u.input(4)).dtype();
    const ValueId deviation = on.Sqrt(on.Add(u.input(4), on.number(static_cast<double>(epsilon), dtype)));
    u.replace({on.Add(on.Mul(on.Div(on.Sub(u.input(0), u.input(3)), deviation), u.input(1)), u.input(2))});
  }

  static constexpr Revision revisions[] = {
      {6, [](Upgrade& u) { u.drop("consumed_inputs"); },
       [](Downgrade& d) {
         d.set("consumed_inputs", std::vector<int64_t>{0, 0, 0, 1, 1});
       }},
      // Training was the default then, but models with one output were meant for inference.
      {7, [](Upgrade& u) { u.drop("is_test"); }, [](Downgrade& d) { d.set("is_test", int64_t{1}); }},
      {9,
       [](Upgrade& u) {
         if (u.take_int("spatial").value_or(1) == 0) per_activation(u, u.take_float("epsilon").value_or(1e-5f));
       }},
      // Training mode was said by asking for the other outputs.
      {14,
       [](Upgrade& u) {
         if (u.outputs > 3)
           throw error("model.upgrade",
                       "BatchNormalization with saved mean and variance (before opset 14) has no newer form");
         if (u.outputs > 1) u.set("training_mode", int64_t{1});
       },
       [](Downgrade& d) {
         if (d.take_int("training_mode").value_or(0))
           d.refuse("training mode gives its running statistics otherwise before opset 14");
         d.outputs = 1;
       }},
      {15, nullptr,
       [](Downgrade& d) {
         for (size_t i = 1; i < 5; ++i)
           if (d.fact(d.inputs[i]).dtype() != d.fact(d.inputs[0]).dtype() && i < 3)
             d.refuse("scale and bias must have the input's type before opset 15");
       }},
  };

  // Training: the batch's own statistics, and the running ones blended with them.
  static void expand_training(const op::BatchNormalization& a, Expand& e) {
    On& on = e.on;
    if (!e.fact(0).has_rank() || e.fact(0).rank() < 2) return e.refuse("the rank is not known");
    const int64_t rank = e.fact(0).rank();
    const DType t = e.dtype(0), statistics = e.dtype(3);
    std::vector<int64_t> axes{0}, shape(static_cast<size_t>(rank), 1);
    for (int64_t i = 2; i < rank; ++i) axes.push_back(i);
    shape[1] = -1;
    const auto per_channel = [&](ValueId v) { return on.Reshape(on.cast(v, t), on.ints(shape)); };
    const ValueId mean = on.ReduceMean(e.in(0), on.ints(axes)), apart = on.Sub(e.in(0), mean);
    const ValueId variance = on.ReduceMean(on.Mul(apart, apart), on.ints(axes));
    const ValueId deviation = on.Sqrt(on.Add(variance, on.number(static_cast<double>(a.epsilon), t)));
    std::vector<ValueId> out{on.Add(on.Mul(on.Div(apart, deviation), per_channel(e.in(1))), per_channel(e.in(2)))};
    const auto blended = [&](ValueId old, ValueId now) {
      const double m = static_cast<double>(a.momentum);
      const ValueId flat = on.cast(on.Reshape(now, on.ints({-1})), statistics);
      return on.Add(on.Mul(old, on.number(m, statistics)), on.Mul(flat, on.number(1 - m, statistics)));
    };
    if (e.outputs() > 1) out.push_back(blended(e.in(3), mean));
    if (e.outputs() > 2) out.push_back(blended(e.in(4), variance));
    e.replace(std::move(out));
  }
  static constexpr Expansion expansions[] = {expansion<op::BatchNormalization>(
      14, Exactness::rounding, [](const op::BatchNormalization& a, Expand& e) { expand_training(a, e); },
      [](const op::BatchNormalization& a, const Graph&, NodeId, int64_t) { return a.training_mode != 0; })};
};

constexpr OpRules table[] = {rules<BatchNormalization>()};

}  // namespace

std::span<const OpRules> batch_normalization_rules() { return table; }

}  // namespace cameo::ops
