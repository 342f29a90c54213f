// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

void infer_loss(Infer& c, const std::string& reduction) {
  if (c.rank(0) < 2)
    c.fail("infer.rank", cat("the input has rank ", c.rank(0), ", [batch, classes, ...] has at least 2"));
  if (c.rank(1) != c.rank(0) - 1)
    c.fail("infer.rank", cat("the target has rank ", c.rank(1), " where ", c.rank(0) - 1, " is wanted"));
  if (c.has(2)) {
    if (c.rank(2) != 1) c.fail("infer.rank", cat("the weights have rank ", c.rank(2), ", not 1"));
    c.same(c.dim(2, 0), c.dim(0, 1), "weights and classes");
  }
  Shape out;
  for (int64_t i = 0; i < c.rank(1); ++i)
    out.push_back(c.same(c.dim(1, i), c.dim(0, i == 0 ? 0 : i + 1), "sizes of input and target"));
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    c.fail("infer.attribute", cat("reduction is '", reduction, "'"));
  c.out(0, reduction == "none" ? out : Shape{});
}

// Log-probabilities [n, classes, inner] and what a target picks from them.
struct Picked {
  std::vector<double> losses, weights;
};

Picked pick(Eval& k, std::span<const double> logs, const std::vector<int64_t>& shape,
            const std::optional<int64_t>& ignored) {
  const Loaded<int64_t> target(k.in(1));
  const int64_t classes = shape[1], inner = target.size() && shape[0] ? target.size() / shape[0] : 0;
  std::optional<Loaded<double>> weight;
  if (k.has(2)) weight.emplace(k.in(2));
  if (weight && weight->size() != classes)
    k.fail("eval.shape", cat("there are ", weight->size(), " weights for ", classes, " classes"));
  Picked out;
  for (int64_t i = 0; i < target.size(); ++i) {
    const int64_t c = target[i];
    const bool skip = ignored && c == *ignored;
    if (!skip && (c < 0 || c >= classes))
      k.fail("eval.index", cat("target ", c, " is not one of the ", classes, " classes"));
    const double w = skip ? 0 : weight ? (*weight)[c] : 1;
    out.weights.push_back(w);
    out.losses.push_back(skip ? 0 : -logs[static_cast<size_t>((i / inner * classes + c) * inner + i % inner)] * w);
  }
  return out;
}

Tensor reduced(const Picked& p, const std::string& reduction, DType type, const std::vector<int64_t>& shape) {
  if (reduction == "none") return store(type, shape, p.losses);
  double loss = 0, weight = 0;
  for (const double v : p.losses) loss += v;
  for (const double v : p.weights) weight += v;
  return store(type, {}, std::vector<double>{reduction == "mean" ? loss / weight : loss});
}

void need_shapes(Eval& k) {
  const auto &x = k.in(0).shape(), &t = k.in(1).shape();
  bool fits = x.size() >= 2 && t.size() + 1 == x.size() && x[0] == t[0];
  for (size_t i = 1; fits && i < t.size(); ++i) fits = t[i] == x[i + 1];
  if (!fits) k.fail("eval.shape", "the shapes of input and target do not fit");
}

struct NegativeLogLikelihoodLoss : Rules<op::NegativeLogLikelihoodLoss> {
  static void infer(const op::NegativeLogLikelihoodLoss& a, Infer& c) { infer_loss(c, a.reduction); }
  static void eval(const op::NegativeLogLikelihoodLoss& a, Eval& k) {
    need_shapes(k);
    const Loaded<double> logs(k.in(0));
    k.out(0, reduced(pick(k, logs.span(), k.in(0).shape(), a.ignore_index), a.reduction, k.in(0).dtype(),
                     k.in(1).shape()));
  }

  // The loss picks by a mask of the target's class; classes that are ignored have weight 0.
  static void expand(const op::NegativeLogLikelihoodLoss& a, Expand& e) {
    On& on = e.on;
    const ValueId x = e.in(0);
    if (!e.fact(0).has_rank() || e.fact(0).rank() < 2 || !e.fact(0).shape()[1].is_literal())
      return e.refuse("the number of classes is not known");
    const ValueId zero = on.number_like(0, x), depth = on.int_scalar(e.fact(0).shape()[1].literal());
    ValueId target = on.cast(e.in(1), DType::i64), kept = {};
    if (a.ignore_index) {
      kept = on.Not(on.Equal(target, on.int_scalar(*a.ignore_index)));
      target = on.Where(kept, target, on.int_scalar(0));
    }
    const auto picked = [&](ValueId from) {
      const ValueId mask = on.OneHot(target, depth, on.ints({0, 1}), op::OneHot{.axis = 1});
      return on.ReduceSum(on.Where(on.cast(mask, DType::boolean), from, zero), on.ints({1}),
                          op::ReduceSum{.keepdims = 0});
    };
    ValueId weight = on.cast(kept ? kept : on.Equal(target, target), e.dtype(0));
    if (e.has(2)) {
      weight = on.Gather(e.in(2), target);
      if (kept) weight = on.Where(kept, weight, zero);
    }
    ValueId loss = on.Neg(on.Mul(picked(x), weight));
    if (kept) loss = on.Where(kept, loss, zero);
    const auto sum = [&](ValueId v) { return on.ReduceSum(v, {}, op::ReduceSum{.keepdims = 0}); };
    e.replace({a.reduction == "none" ? loss : a.reduction == "sum" ? sum(loss) : on.Div(sum(loss), sum(weight))});
  }
  static constexpr Expansion expansions[] = {expansion<op::NegativeLogLikelihoodLoss>(
      12, Exactness::rounding, [](const op::NegativeLogLikelihoodLoss& a, Expand& e) { expand(a, e); })};
};

struct SoftmaxCrossEntropyLoss : Rules<op::SoftmaxCrossEntropyLoss> {
  static void infer(const op::SoftmaxCrossEntropyLoss& a, Infer& c) {
    infer_loss(c, a.reduction);
    c.out(1, c.shape(0));
  }

  static std::vector<double> log_softmax(const Tensor& x) {
    const Loaded<double> in(x);
    std::vector<double> out(in.span().begin(), in.span().end());
    if (out.empty()) return out;
    const int64_t classes = x.shape()[1], inner = element_count(std::span(x.shape()).subspan(2));
    for (int64_t line = 0; line < x.shape()[0] * inner; ++line) {
      const auto at = [&](int64_t c) -> double& {
        return out[static_cast<size_t>((line / inner * classes + c) * inner + line % inner)];
      };
      double most = classes ? at(0) : 0, sum = 0;
      for (int64_t c = 1; c < classes; ++c) most = std::max(most, at(c));
      for (int64_t c = 0; c < classes; ++c) sum += std::exp(at(c) - most);
      for (int64_t c = 0; c < classes; ++c) at(c) -= most + std::log(sum);
    }
    return out;
  }

  static void eval(const op::SoftmaxCrossEntropyLoss& a, Eval& k) {
    need_shapes(k);
    const Tensor& x = k.in(0);
    const auto logs = log_softmax(x);
    k.out(0, reduced(pick(k, logs, x.shape(), a.ignore_index), a.reduction, x.dtype(), k.in(1).shape()));
    k.out(1, store(x.dtype(), x.shape(), logs));
  }

  static constexpr Expansion expansions[] = {expansion<op::SoftmaxCrossEntropyLoss>(
      12, Exactness::rounding, [](const op::SoftmaxCrossEntropyLoss& a, Expand& e) {
        const ValueId logs = e.on.LogSoftmax(e.in(0), op::LogSoftmax{.axis = 1});
        const ValueId loss = e.on.NegativeLogLikelihoodLoss(logs, e.in(1), e.in(2),
                                                            {.ignore_index = a.ignore_index, .reduction = a.reduction});
        e.outputs() > 1 ? e.replace({loss, logs}) : e.replace({loss});
      })};
};

constexpr OpRules table[] = {rules<NegativeLogLikelihoodLoss>(), rules<SoftmaxCrossEntropyLoss>()};

}  // namespace

std::span<const OpRules> loss_rules() { return table; }

}  // namespace cameo::ops
