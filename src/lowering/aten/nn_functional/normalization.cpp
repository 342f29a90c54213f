// torch.nn.functional, normalisations: over batches, layers, groups, instances.
#include <algorithm>

#include "lowering/emptiness.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V group_norm(Lower& on, V x, int64_t groups, Opt<V> w, Opt<V> b, double eps) {
  const Dims channels{on.dim(x, 1)};
  const V scale = w ? *w : on.full(channels, Num(1.0), on.dtype(x)),
          shift = b ? *b : on.full(channels, Num(0.0), on.dtype(x));
  return on.GroupNormalization(x, scale, shift, {.epsilon = static_cast<float>(eps), .num_groups = groups});
}

V instance_norm(Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, bool use_input_stats, double, double eps) {
  const Dims channels{on.dim(x, 1)};
  const V scale = w ? *w : on.full(channels, Num(1.0), on.dtype(x)),
          shift = b ? *b : on.full(channels, Num(0.0), on.dtype(x));
  if (use_input_stats || !mean || !var)
    return on.InstanceNormalization(x, scale, shift, {.epsilon = static_cast<float>(eps)});
  return on.BatchNormalization(x, scale, shift, *mean, *var, 1, {.epsilon = static_cast<float>(eps)})[0];
}

V weight_norm(Lower& on, V v, V g, int64_t dim) {
  Ints axes;
  for (const int64_t a : on.all_axes(v))
    if (dim < 0 || a != on.axis(v, dim)) axes.push_back(a);
  return on.Mul(v, on.Div(g, reduce(on, Reduce::l2, v, axes, true)));
}

// Every channel by its own mean and spread within the batch.
struct Normalised {
  V value, mean, inverse_spread;
};

Normalised normalise_by_batch(Lower& on, V x, const Opt<V>& w, const Opt<V>& b, double eps) {
  on.need_rank(x, 2, "batch normalisation");
  Ints others = on.all_axes(x);
  others.erase(others.begin() + 1);
  const V mean = reduce(on, Reduce::mean, x, others, true);
  const V scale = on.Reciprocal(on.Sqrt(on.Add(variance(on, x, others, 0, true), on.number_like(eps, x))));
  V y = on.Mul(on.Sub(x, mean), scale);
  if (w) y = on.Mul(y, reach(on, *w, 1, on.rank(x)));
  if (b) y = on.Add(y, reach(on, *b, 1, on.rank(x)));
  return {y, on.squeeze(mean, others), on.squeeze(scale, others)};
}

V batch_norm(Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, bool training, double, double eps) {
  if (training || !mean || !var) return normalise_by_batch(on, x, w, b, eps).value;
  const DType t = on.dtype(x);
  const Dims channels{on.dim(x, 1)};
  const V scale = w ? *w : on.full(channels, Num(1.0), t);
  const V shift = b ? *b : on.full(channels, Num(0.0), t);
  return on.BatchNormalization(x, scale, shift, *mean, *var, 1, {.epsilon = static_cast<float>(eps)})[0];
}

std::tuple<V, V, V> native_batch_norm(Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, bool training,
                                      double momentum, double eps) {
  if (!training && mean && var) {
    const V none = on.full({Dim(0)}, Num(0.0), on.dtype(x));
    return {batch_norm(on, x, w, b, mean, var, false, momentum, eps), none, none};
  }
  const Normalised n = normalise_by_batch(on, x, w, b, eps);
  return {n.value, n.mean, n.inverse_spread};
}

std::tuple<V, V, V, V> with_reserve(Lower& on, std::tuple<V, V, V> r) {
  return {std::get<0>(r), std::get<1>(r), std::get<2>(r), on.full({Dim(0)}, Num(int64_t{0}), DType::u8)};
}

// The statistics that training would keep, as results.
std::tuple<V, V, V, V, V> batch_norm_with_statistics(Lower& on, V x, Opt<V> w, Opt<V> b, V mean, V var, bool training,
                                                     double momentum, double eps) {
  const auto r = native_batch_norm(on, x, w, b, mean, var, training, momentum, eps);
  if (!training) return {std::get<0>(r), std::get<1>(r), std::get<2>(r), mean, var};
  Ints others = on.all_axes(x);
  others.erase(others.begin() + 1);
  const auto moved_towards = [&](V old, V seen) {
    return V(on.Add(on.Mul(old, on.number_like(1 - momentum, old)), on.Mul(seen, on.number_like(momentum, old))));
  };
  return {std::get<0>(r), std::get<1>(r), std::get<2>(r), moved_towards(mean, std::get<1>(r)),
          moved_towards(var, variance(on, x, others, 1, false))};
}

V layer_norm(Lower& on, V x, Dims shape, Opt<V> w, Opt<V> b, double eps) {
  if (std::any_of(shape.begin(), shape.end(), [&](Dim d) { return may_be_empty(on, d); })) {
    // ONNX Runtime refuses a LayerNormalization over nothing.
    Ints axes;
    for (int64_t k = on.rank(x) - static_cast<int64_t>(shape.size()); k < on.rank(x); ++k) axes.push_back(k);
    const V centred = on.Sub(x, reduce(on, Reduce::mean, x, axes, true));
    const V spread = on.Sqrt(on.Add(variance(on, x, axes, 0, true), on.number_like(eps, x)));
    V y = on.Div(centred, spread);
    if (w) y = on.Mul(y, *w);
    return b ? V(on.Add(y, *b)) : y;
  }
  const auto axis = -static_cast<int64_t>(shape.size());
  const V scale = w ? *w : on.full(shape, Num(1.0), on.dtype(x));
  return on.LayerNormalization(x, scale, 1, b ? b->id : ValueId(),
                               {.axis = axis, .epsilon = static_cast<float>(eps)})[0];
}

constexpr Row table[] = {
    {"aten::batch_norm", fn<batch_norm>},
    {"aten::native_batch_norm", fn<native_batch_norm>},
    {"aten::_native_batch_norm_legit", fn<native_batch_norm>},
    {"aten::_native_batch_norm_legit.no_stats",
     [](Lower& on, V x, Opt<V> w, Opt<V> b, bool, double m, double eps) {
       return native_batch_norm(on, x, w, b, {}, {}, true, m, eps);
     }},
    {"aten::_native_batch_norm_legit_no_training",
     [](Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, double m, double eps) {
       return native_batch_norm(on, x, w, b, mean, var, false, m, eps);
     }},
    {"aten::_native_batch_norm_legit_functional", fn<batch_norm_with_statistics>},
    {"aten::_batch_norm_with_update",
     [](Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, double m, double eps) {
       return with_reserve(on, native_batch_norm(on, x, w, b, mean, var, true, m, eps));
     }},
    {"aten::_batch_norm_with_update_functional",
     [](Lower& on, V x, Opt<V> w, Opt<V> b, V mean, V var, double m, double eps) {
       const auto [y, saved_mean, saved_var, new_mean, new_var] =
           batch_norm_with_statistics(on, x, w, b, mean, var, true, m, eps);
       return std::tuple<V, V, V, V, V, V>{
           y, saved_mean, saved_var, on.full({Dim(0)}, Num(int64_t{0}), DType::u8), new_mean, new_var};
     }},
    {"aten::_batch_norm_no_update",
     [](Lower& on, V x, Opt<V> w, Opt<V> b, Opt<V> mean, Opt<V> var, double m, double eps) {
       return with_reserve(on, native_batch_norm(on, x, w, b, mean, var, false, m, eps));
     }},
    {"aten::layer_norm", fn<layer_norm>},
    {"aten::native_layer_norm",
     [](Lower& on, V x, Dims shape, Opt<V> w, Opt<V> b, double eps) {
       const V scale = w ? *w : on.full(shape, Num(1.0), on.dtype(x));
       const auto out =
           on.LayerNormalization(x, scale, 3, b ? b->id : ValueId(),
                                 {.axis = -static_cast<int64_t>(shape.size()), .epsilon = static_cast<float>(eps)});
       return std::tuple<V, V, V>{out[0], out[1], out[2]};
     }},
    {"aten::group_norm", fn<group_norm>},
    {"aten::native_group_norm",
     [](Lower& on, V x, Opt<V> w, Opt<V> b, Dim n, Dim c, Dim hw, int64_t groups, double eps) {
       const V parts = on.reshape(x, {n, Dim(groups), floor_div(c, Dim(groups)) * hw});
       const V mean = reduce(on, Reduce::mean, parts, {2}, true),
               scale = on.Reciprocal(on.Sqrt(on.Add(variance(on, parts, {2}, 0, true), on.number_like(eps, x))));
       V y = on.reshape(on.Mul(on.Sub(parts, mean), scale), on.shape(x));
       if (w) y = on.Mul(y, reach(on, *w, 1, on.rank(x)));
       if (b) y = on.Add(y, reach(on, *b, 1, on.rank(x)));
       return std::tuple<V, V, V>{y, on.squeeze(mean, {2}), on.squeeze(scale, {2})};
     }},
    {"aten::instance_norm", fn<instance_norm>},
    {"aten::rms_norm",
     [](Lower& on, V x, Dims shape, Opt<V> w, Opt<double> eps) {
       const V scale = w ? *w : on.full(shape, Num(1.0), on.dtype(x));
       return V(on.RMSNormalization(x, scale,
                                    {.axis = -static_cast<int64_t>(shape.size()),
                                     .epsilon = static_cast<float>(eps.value_or(1.1920928955078125e-07))}));
     }},
    {"aten::_weight_norm", fn<weight_norm>},
};

}  // namespace

std::span<const Row> nn_functional_normalization_rows() { return table; }

}  // namespace cameo::lowering
