// torch.nn.functional, Loss functions.
#include <algorithm>

#include "lowering/arithmetic.h"
#include "lowering/call_row.h"
#include "lowering/forms.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V reduced(Lower& on, V x, int64_t reduction) {
  return reduction == 0 ? x : reduce(on, reduction == 1 ? Reduce::mean : Reduce::sum, x, on.all_axes(x), false);
}

V smooth(Lower& on, V x, V y, int64_t reduction, double beta, bool huber) {
  const V d = on.Abs(on.Sub(x, y));
  if (!huber && beta == 0) return reduced(on, d, reduction);
  const V inner = huber ? on.Mul(squared(on, d), on.number_like(0.5, d))
                        : on.Div(on.Mul(squared(on, d), on.number_like(0.5, d)), on.number_like(beta, d));
  const V outer = huber ? on.Mul(on.number_like(beta, d), on.Sub(d, on.number_like(0.5 * beta, d)))
                        : on.Sub(d, on.number_like(0.5 * beta, d));
  return reduced(on, on.Where(on.Less(d, on.number_like(beta, d)), inner, outer), reduction);
}

V bce(Lower& on, V x, V t, Opt<V> w, int64_t reduction) {
  const V one = on.number_like(1, x);
  const V a = on.Mul(t, at_least(on, on.Log(x), -100)),
          b = on.Mul(on.Sub(one, t), at_least(on, on.Log(on.Sub(one, x)), -100));
  V loss = on.Neg(on.Add(a, b));
  if (w) loss = on.Mul(loss, *w);
  return reduced(on, loss, reduction);
}

V bce_logits(Lower& on, V x, V t, Opt<V> w, Opt<V> pos, int64_t reduction) {
  const V one = on.number_like(1, x);
  const V soft = on.Softplus(on.Neg(x));  // -log(sigmoid(x))
  const V factor = pos ? V(on.Add(on.Mul(on.Sub(*pos, one), t), one)) : one;
  V loss = on.Add(on.Mul(on.Sub(one, t), x), pos ? V(on.Mul(factor, soft)) : soft);
  if (w) loss = on.Mul(loss, *w);
  return reduced(on, loss, reduction);
}

V kl_div(Lower& on, V x, V t, int64_t reduction, bool log_target) {
  const V zero = on.number_like(0, x);
  const V loss = log_target ? V(on.Mul(on.Exp(t), on.Sub(t, x)))
                            : V(on.Sub(on.Where(on.Equal(t, zero), zero, on.Mul(t, on.Log(t))), on.Mul(t, x)));
  return reduced(on, loss, reduction);
}

V nll(Lower& on, V x, V t, Opt<V> w, int64_t reduction, int64_t ignore) {
  if (reduction < 0 || reduction > 2) unsupported(cat("a loss of reduction ", reduction));
  static constexpr std::string_view names[] = {"none", "mean", "sum"};
  if (on.rank(x) == 1) {
    const V y = nll(on, on.unsqueeze(x, {0}), on.reshape(t, {Dim(1)}), w, reduction, ignore);
    return reduction == 0 ? on.squeeze(y, {0}) : y;
  }
  return on.NegativeLogLikelihoodLoss(x, t, w ? w->id : ValueId(),
                                      {.ignore_index = ignore, .reduction = std::string(names[reduction])});
}

// Targets are classes, or how much of each class.
V cross_entropy(Lower& on, V x, V t, Opt<V> w, int64_t reduction, int64_t ignore, double smoothing) {
  const int64_t axis = on.rank(x) == 1 ? 0 : 1;
  const V logs = on.LogSoftmax(x, {.axis = axis});
  const V weight = w ? reach(on, *w, axis, on.rank(x)) : V();
  const V classes = on.to(on.int_scalar(on.dim(x, axis)), on.dtype(x));
  if (on.is_float(t)) {
    if (smoothing > 0)
      t = on.Add(on.Mul(t, on.number_like(1 - smoothing, t)), on.Div(on.number_like(smoothing, t), classes));
    const V parts = on.Mul(logs, t);
    const V loss = on.Neg(reduce(on, Reduce::sum, w ? V(on.Mul(parts, weight)) : parts, {axis}, false));
    return on.rank(loss) == 0 ? loss : reduced(on, loss, reduction);
  }
  const V sharp = nll(on, logs, t, w, reduction, ignore);
  if (smoothing == 0) return sharp;
  if (w && reduction == 1) unsupported("cross entropy with label smoothing and weights, averaged");
  const V every = on.Neg(reduce(on, Reduce::sum, w ? V(on.Mul(logs, weight)) : logs, {axis}, false));
  const V counts = on.Not(on.Equal(t, on.number(static_cast<double>(ignore), on.dtype(t))));
  V smooth = on.Where(counts, every, on.number_like(0, x));
  if (reduction != 0) smooth = reduce(on, Reduce::sum, smooth, on.all_axes(smooth), false);
  if (reduction == 1)
    smooth = on.Div(smooth, reduce(on, Reduce::sum, on.to(counts, on.dtype(x)), on.all_axes(counts), false));
  return on.Add(on.Mul(sharp, on.number_like(1 - smoothing, x)),
                on.Mul(smooth, on.Div(on.number_like(smoothing, x), classes)));
}

V pair_distance(Lower& on, V a, V b, double p, double eps) {
  const V d = on.Add(on.Sub(a, b), on.number_like(eps, a));
  return vector_norm(on, d, p, {on.rank(d) - 1}, false);
}

V triplet(Lower& on, V anchor, V positive, V negative, double margin, double p, double eps, bool swap,
          int64_t reduction) {
  const V near = pair_distance(on, anchor, positive, p, eps);
  V far = pair_distance(on, anchor, negative, p, eps);
  if (swap) far = on.Min(std::vector<ValueId>{far, pair_distance(on, positive, negative, p, eps)});
  return reduced(on, at_least(on, on.Add(on.Sub(near, far), on.number_like(margin, near)), 0), reduction);
}

V cosine_embedding(Lower& on, V a, V b, V t, double margin, int64_t reduction) {
  const Ints axes{std::max(on.rank(a), on.rank(b)) - 1};
  const auto dot = [&](V x, V y) { return reduce(on, Reduce::sum, on.Mul(x, y), axes, false); };
  const V eps = on.number_like(1e-12, a);
  const V cosine = on.Div(dot(a, b), on.Sqrt(on.Mul(on.Add(dot(a, a), eps), on.Add(dot(b, b), eps))));
  const V zero = on.number_like(0, cosine), same = on.Equal(t, on.number_like(1, t)),
          different = on.Equal(t, on.number_like(-1, t));
  const V near = on.Where(same, on.Sub(on.number_like(1, cosine), cosine), zero);
  const V far = on.Where(different, at_least(on, on.Sub(cosine, on.number_like(margin, cosine)), 0), zero);
  return reduced(on, on.Add(near, far), reduction);
}

// [batch, classes], with a batch of one when there is none.
V batched(Lower& on, V x) { return on.rank(x) == 2 ? x : on.reshape(x, {Dim(1), element_count(on.shape(x))}); }

V unbatched(Lower& on, V loss, V x, int64_t reduction) {
  return on.rank(x) == 2 ? reduced(on, loss, reduction) : on.squeeze(loss, {0});
}

V multi_margin(Lower& on, V scores, V t, Num p, Num margin, Opt<V> w, int64_t reduction) {
  const V x = batched(on, scores), at = on.reshape(t, {on.dim(x, 0), Dim(1)});
  V gap = at_least(on, on.Add(on.Sub(on.scalar_like(margin, x), on.GatherElements(x, at, {.axis = 1})), x), 0);
  if (!p.is(1)) gap = squared(on, gap);
  if (w) gap = on.Mul(gap, on.Gather(*w, at, {.axis = 0}));
  const V own = on.Equal(iota(on, on.dim(x, 1)), at);
  return unbatched(on, reduce(on, Reduce::mean, on.Where(own, on.number_like(0, x), gap), {1}, false), scores,
                   reduction);
}

// Targets are listed up to the first -1.
V multilabel_margin(Lower& on, V scores, V targets, int64_t reduction) {
  const V x = batched(on, scores), t = batched(on, targets), zero = on.On::int_scalar(0);
  const V listed = on.Equal(on.CumSum(on.to(on.Less(t, zero), DType::i64), on.On::int_scalar(1)), zero);
  const V at = on.Where(listed, t, zero);
  const V named = on.And(on.Equal(on.unsqueeze(at, {2}), iota(on, on.dim(x, 1))), on.unsqueeze(listed, {2}));
  const V is_target = on.unsqueeze(flags_any(on, named, 1), {1});
  const V gap = at_least(on,
                         on.Add(on.Sub(on.number_like(1, x), on.unsqueeze(on.GatherElements(x, at, {.axis = 1}), {2})),
                                on.unsqueeze(x, {1})),
                         0);
  const V counted = on.And(on.unsqueeze(listed, {2}), on.Not(is_target));
  const V sums = reduce(on, Reduce::sum, on.Where(counted, gap, on.number_like(0, x)), {1, 2}, false);
  return unbatched(on, on.Div(sums, on.to(on.int_scalar(on.dim(x, 1)), on.dtype(x))), scores, reduction);
}

std::tuple<V, V> nll_with_weight(Lower& on, V x, V target, Opt<V> weight, int64_t reduction, Dim ignored) {
  const V loss = result(call_row(on, "aten::nll_loss_nd",
                                 {Arg(x), Arg(target), optional_arg(weight), Arg(Dim(reduction)), Arg(ignored)}));
  const V counted = on.Not(on.Equal(target, on.int_scalar(ignored)));
  const V each = weight ? V(on.Gather(*weight, on.Where(counted, target, on.On::int_scalar(0)), {.axis = 0}))
                        : on.number_like(1, x);
  const V total = reduce(on, Reduce::sum, on.Where(counted, each, on.number_like(0, x)), on.all_axes(target), false);
  return {loss, reduction == 0 ? on.full({}, Num(0.0), on.dtype(x)) : total};
}

constexpr Row table[] = {
    {"aten::mse_loss", [](Lower& on, V x, V y, int64_t r) { return reduced(on, squared(on, on.Sub(x, y)), r); },
     promote(0, 1)},
    {"aten::l1_loss", [](Lower& on, V x, V y, int64_t r) { return reduced(on, on.Abs(on.Sub(x, y)), r); },
     promote(0, 1)},
    {"aten::smooth_l1_loss",
     [](Lower& on, V x, V y, int64_t r, double beta) { return smooth(on, x, y, r, beta, false); }, promote(0, 1)},
    {"aten::huber_loss", [](Lower& on, V x, V y, int64_t r, double delta) { return smooth(on, x, y, r, delta, true); },
     promote(0, 1)},
    {"aten::binary_cross_entropy", fn<bce>},
    {"aten::binary_cross_entropy_with_logits", fn<bce_logits>},
    {"aten::kl_div", fn<kl_div>},
    {"aten::soft_margin_loss",
     [](Lower& on, V x, V t, int64_t r) { return reduced(on, on.Softplus(on.Neg(on.Mul(t, x))), r); }},
    {"aten::hinge_embedding_loss",
     [](Lower& on, V x, V t, double margin, int64_t r) {
       const V near = on.Where(on.Equal(t, on.number_like(1, t)), x, on.number_like(0, x));
       const V far = on.Where(on.Equal(t, on.number_like(-1, t)), at_least(on, on.Sub(on.number_like(margin, x), x), 0),
                              on.number_like(0, x));
       return reduced(on, on.Add(near, far), r);
     }},
    {"aten::margin_ranking_loss",
     [](Lower& on, V a, V b, V t, double margin, int64_t r) {
       return reduced(on, at_least(on, on.Add(on.Mul(on.Neg(t), on.Sub(a, b)), on.number_like(margin, a)), 0), r);
     }},
    {"aten::poisson_nll_loss",
     [](Lower& on, V x, V t, bool log_input, bool full, double eps, int64_t r) {
       V loss = log_input ? on.Sub(on.Exp(x), on.Mul(t, x))
                          : on.Sub(x, on.Mul(t, on.Log(on.Add(x, on.number_like(eps, x)))));
       if (full) {
         const V stirling =
             on.Add(on.Sub(on.Mul(t, on.Log(t)), t),
                    on.Mul(on.number_like(0.5, t), on.Log(on.Mul(on.number_like(2 * 3.14159265358979323846, t), t))));
         loss = on.Add(loss, on.Where(on.Greater(t, on.number_like(1, t)), stirling, on.number_like(0, t)));
       }
       return reduced(on, loss, r);
     }},
    {"aten::cross_entropy_loss", fn<cross_entropy>},
    {"aten::triplet_margin_loss", fn<triplet>},
    {"aten::cosine_embedding_loss", fn<cosine_embedding>},
    {"aten::multi_margin_loss", fn<multi_margin>},
    {"aten::multilabel_margin_loss", fn<multilabel_margin>},
    {"aten::nll_loss_nd", fn<nll>},
    {"aten::nll_loss", fn<nll>},
    {"aten::nll_loss2d", fn<nll>},
    {"aten::nll_loss_forward", fn<nll_with_weight>},
    {"aten::nll_loss2d_forward", fn<nll_with_weight>},
};

}  // namespace

std::span<const Row> nn_functional_loss_rows() { return table; }

}  // namespace cameo::lowering
