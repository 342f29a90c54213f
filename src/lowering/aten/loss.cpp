// Losses, norms of pairs, statistics that come in pairs.
#include <cmath>

#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo {

namespace {

V num(Lower& on, double v, V like) { return on.number(v, on.dtype(like)); }
V reduced(Lower& on, V x, int64_t reduction) {
  return reduction == 0 ? x : reduce(on, reduction == 1 ? Reduce::mean : Reduce::sum, x, on.all_axes(x), false);
}
V clamp_low(Lower& on, V x, double low) { return on.Max(std::vector<ValueId>{x, num(on, low, x)}); }
V squared(Lower& on, V x) { return on.Mul(x, x); }

V smooth(Lower& on, V x, V y, int64_t reduction, double beta, bool huber) {
  const V d = on.Abs(on.Sub(x, y));
  if (!huber && beta == 0) return reduced(on, d, reduction);
  const V inner = huber ? on.Mul(squared(on, d), num(on, 0.5, d)) : on.Div(on.Mul(squared(on, d), num(on, 0.5, d)), num(on, beta, d));
  const V outer = huber ? on.Mul(num(on, beta, d), on.Sub(d, num(on, 0.5 * beta, d))) : on.Sub(d, num(on, 0.5 * beta, d));
  return reduced(on, on.Where(on.Less(d, num(on, beta, d)), inner, outer), reduction);
}

V bce(Lower& on, V x, V t, Opt<V> w, int64_t reduction) {
  const V one = num(on, 1, x);
  const V a = on.Mul(t, clamp_low(on, on.Log(x), -100)), b = on.Mul(on.Sub(one, t), clamp_low(on, on.Log(on.Sub(one, x)), -100));
  V loss = on.Neg(on.Add(a, b));
  if (w) loss = on.Mul(loss, *w);
  return reduced(on, loss, reduction);
}
V bce_logits(Lower& on, V x, V t, Opt<V> w, Opt<V> pos, int64_t reduction) {
  const V one = num(on, 1, x);
  const V soft = on.Softplus(on.Neg(x));  // -log(sigmoid(x))
  const V factor = pos ? V(on.Add(on.Mul(on.Sub(*pos, one), t), one)) : one;
  V loss = on.Add(on.Mul(on.Sub(one, t), x), pos ? V(on.Mul(factor, soft)) : soft);
  if (w) loss = on.Mul(loss, *w);
  return reduced(on, loss, reduction);
}
V kl_div(Lower& on, V x, V t, int64_t reduction, bool log_target) {
  const V zero = num(on, 0, x);
  const V loss = log_target ? V(on.Mul(on.Exp(t), on.Sub(t, x)))
                            : V(on.Sub(on.Where(on.Equal(t, zero), zero, on.Mul(t, on.Log(t))), on.Mul(t, x)));
  return reduced(on, loss, reduction);
}
V cosine_similarity(Lower& on, V a, V b, int64_t dim, double eps) {
  const Dims &sa = on.shape(a), &sb = on.shape(b);
  const int64_t rank = std::max<int64_t>(static_cast<int64_t>(sa.size()), static_cast<int64_t>(sb.size()));
  const Ints axes{dim < 0 ? dim + rank : dim};
  const auto size = [&](V x) { return clamp_low(on, reduce(on, Reduce::l2, x, axes, true), eps); };
  return reduce(on, Reduce::sum, on.Mul(on.Div(a, size(a)), on.Div(b, size(b))), axes, false);
}
std::tuple<V, V> var_mean(Lower& on, V x, const Opt<Ints>& dims, double correction, bool keep, bool root) {
  const Ints axes = dims && !dims->empty() ? on.axes(x, *dims) : on.all_axes(x);
  const V v = variance(on, x, axes, correction, keep);
  return {root ? V(on.Sqrt(v)) : v, reduce(on, Reduce::mean, x, axes, keep)};
}
double correction_of(const Opt<Num>& c) { return c ? c->to_double() : 1.0; }

V nll(Lower& on, V x, V t, Opt<V> w, int64_t reduction, int64_t ignore) {
  static constexpr std::string_view names[] = {"none", "mean", "sum"};
  if (on.rank(x) == 1) unsupported("nll_loss without a batch");
  return on.NegativeLogLikelihoodLoss(x, t, w ? w->id : ValueId(), {.ignore_index = ignore, .reduction = std::string(names[reduction])});
}

constexpr Row table[] = {
    {"aten::mse_loss", [](Lower& on, V x, V y, int64_t r) { return reduced(on, squared(on, on.Sub(x, y)), r); }, promote(0, 1)},
    {"aten::l1_loss", [](Lower& on, V x, V y, int64_t r) { return reduced(on, on.Abs(on.Sub(x, y)), r); }, promote(0, 1)},
    {"aten::smooth_l1_loss", [](Lower& on, V x, V y, int64_t r, double beta) { return smooth(on, x, y, r, beta, false); }, promote(0, 1)},
    {"aten::huber_loss", [](Lower& on, V x, V y, int64_t r, double delta) { return smooth(on, x, y, r, delta, true); }, promote(0, 1)},
    {"aten::binary_cross_entropy", fn<bce>}, {"aten::binary_cross_entropy_with_logits", fn<bce_logits>},
    {"aten::kl_div", fn<kl_div>},
    {"aten::soft_margin_loss", [](Lower& on, V x, V t, int64_t r) { return reduced(on, on.Softplus(on.Neg(on.Mul(t, x))), r); }},
    {"aten::hinge_embedding_loss", [](Lower& on, V x, V t, double margin, int64_t r) {
       const V near = on.Where(on.Equal(t, num(on, 1, t)), x, num(on, 0, x));
       const V far = on.Where(on.Equal(t, num(on, -1, t)), clamp_low(on, on.Sub(num(on, margin, x), x), 0), num(on, 0, x));
       return reduced(on, on.Add(near, far), r);
     }},
    {"aten::margin_ranking_loss", [](Lower& on, V a, V b, V t, double margin, int64_t r) {
       return reduced(on, clamp_low(on, on.Add(on.Mul(on.Neg(t), on.Sub(a, b)), num(on, margin, a)), 0), r);
     }},
    {"aten::poisson_nll_loss", [](Lower& on, V x, V t, bool log_input, bool full, double eps, int64_t r) {
       V loss = log_input ? on.Sub(on.Exp(x), on.Mul(t, x)) : on.Sub(x, on.Mul(t, on.Log(on.Add(x, num(on, eps, x)))));
       if (full) {
         const V stirling = on.Add(on.Sub(on.Mul(t, on.Log(t)), t), on.Mul(num(on, 0.5, t), on.Log(on.Mul(num(on, 2 * 3.14159265358979323846, t), t))));
         loss = on.Add(loss, on.Where(on.Greater(t, num(on, 1, t)), stirling, num(on, 0, t)));
       }
       return reduced(on, loss, r);
     }},
    {"aten::cosine_similarity", fn<cosine_similarity>, promote(0, 1)},
    {"aten::pairwise_distance", [](Lower& on, V a, V b, double p, double eps, bool keep) {
       const V d = on.Add(on.Sub(a, b), num(on, eps, a));
       const Ints axes{on.rank(d) - 1};
       if (p == 2) return reduce(on, Reduce::l2, d, axes, keep);
       if (p == 1) return reduce(on, Reduce::l1, d, axes, keep);
       return V(on.Pow(reduce(on, Reduce::sum, on.Pow(on.Abs(d), num(on, p, d)), axes, keep), num(on, 1 / p, d)));
     }, promote(0, 1)},
    {"aten::nll_loss_nd", fn<nll>}, {"aten::nll_loss", fn<nll>}, {"aten::nll_loss2d", fn<nll>},
    {"aten::var_mean", [](Lower& on, V x, bool unbiased) { return var_mean(on, x, {}, unbiased, false, false); }},
    {"aten::std_mean", [](Lower& on, V x, bool unbiased) { return var_mean(on, x, {}, unbiased, false, true); }},
    {"aten::var_mean.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased, bool keep) { return var_mean(on, x, d, unbiased, keep, false); }},
    {"aten::std_mean.dim", [](Lower& on, V x, Opt<Ints> d, bool unbiased, bool keep) { return var_mean(on, x, d, unbiased, keep, true); }},
    {"aten::var_mean.correction", [](Lower& on, V x, Opt<Ints> d, Opt<Num> c, bool keep) { return var_mean(on, x, d, correction_of(c), keep, false); }},
    {"aten::std_mean.correction", [](Lower& on, V x, Opt<Ints> d, Opt<Num> c, bool keep) { return var_mean(on, x, d, correction_of(c), keep, true); }},
    {"aten::aminmax", [](Lower& on, V x, Opt<int64_t> dim, bool keep) {
       const Ints axes = dim && on.rank(x) ? Ints{on.axis(x, *dim)} : on.all_axes(x);
       return std::tuple<V, V>{reduce(on, Reduce::min, x, axes, keep), reduce(on, Reduce::max, x, axes, keep)};
     }},
    {"aten::native_layer_norm", [](Lower& on, V x, Dims shape, Opt<V> w, Opt<V> b, double eps) {
       const V scale = w ? *w : on.full(shape, Num(1.0), on.dtype(x));
       const auto out = on.LayerNormalization(x, scale, 3, b ? b->id : ValueId(), {.axis = -static_cast<int64_t>(shape.size()), .epsilon = static_cast<float>(eps)});
       return std::tuple<V, V, V>{out[0], out[1], out[2]};
     }},
};

}  // namespace

std::span<const Row> loss_rows() { return table; }

}  // namespace cameo
