// The preview of training: one step of an optimizer.
#include <cmath>

#include "ops/eval.h"
#include "ops/infer.h"
#include "ops/op_def.h"

namespace cameo::ops {

namespace {

// A gradient or state is as its tensor is.
void check_like(Infer& c, size_t i, size_t tensor) {
  if (c.dtype(i) != c.dtype(tensor))
    c.fail("infer.type", cat("input ", i, " is ", name(c.dtype(i)), ", input ", tensor, " is ", name(c.dtype(tensor))));
  if (c.rank(i) != c.rank(tensor))
    c.fail("infer.rank", cat("input ", i, " has rank ", c.rank(i), ", input ", tensor, " has ", c.rank(tensor)));
  for (int64_t axis = 0; axis < c.rank(i); ++axis)
    c.same(c.dim(i, axis), c.dim(tensor, axis), cat("sizes of a tensor and its gradient or state on axis ", axis));
}

// Inputs after rate and count come in `groups` of equally many tensors: values, gradients, states. Outputs are the
// values and the states.
void infer_step(Infer& c, size_t groups) {
  const size_t tensors = c.in_count() - 2, n = tensors / groups;
  if (tensors < groups || tensors % groups)
    c.fail("infer.input", cat(tensors, " tensors do not make ", groups, " groups"));
  if (c.out_count() > n * (groups - 1)) c.fail("infer.output", cat(c.out_count(), " outputs of ", n * (groups - 1)));
  for (const size_t i : {0, 1}) c.same(element_count(c.shape(i)), 1, "number of rates or counts and 1");
  for (size_t i = 0; i < tensors; ++i) check_like(c, 2 + i, 2 + i % n);
  for (size_t i = 0; i < c.out_count(); ++i) c.out_like(i, 2 + i + (i < n ? 0 : n));
}

// Calls f(value, gradient, states...) on every element; f changes value and states.
template <size_t states, class F>
void eval_step(Eval& k, F&& f) {
  constexpr size_t groups = 2 + states;
  if (k.in_count() < 2 + groups || (k.in_count() - 2) % groups)
    k.fail("eval.input", cat(k.in_count() - 2, " tensors do not make ", groups, " groups"));
  const size_t n = (k.in_count() - 2) / groups;
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> part[groups];
    const Tensor& x = k.in(2 + i);
    for (size_t g = 0; g < groups; ++g) {
      part[g] = k.in(2 + g * n + i).to_doubles();
      if (k.in(2 + g * n + i).shape() != x.shape() || k.in(2 + g * n + i).dtype() != x.dtype())
        k.fail("eval.shape", cat("tensor ", i, " and its gradient or state differ in shape or type"));
    }
    for (size_t j = 0; j < part[0].size(); ++j) {
      double s[states];
      for (size_t g = 0; g < states; ++g) s[g] = part[2 + g][j];
      f(part[0][j], part[1][j], s);
      for (size_t g = 0; g < states; ++g) part[2 + g][j] = s[g];
    }
    k.out(i, store(x.dtype(), x.shape(), part[0]));
    for (size_t g = 0; g < states; ++g) k.out((1 + g) * n + i, store(x.dtype(), x.shape(), part[2 + g]));
  }
}

struct Adagrad : Rules<op::Adagrad> {
  static void infer(const op::Adagrad&, Infer& c) { infer_step(c, 3); }
  static void eval(const op::Adagrad& a, Eval& k) {
    const double rate =
        k.double_scalar(0) / (1 + static_cast<double>(k.int_scalar(1)) * static_cast<double>(a.decay_factor));
    eval_step<1>(k, [&](double& x, double g, double(&s)[1]) {
      g += static_cast<double>(a.norm_coefficient) * x;
      s[0] += g * g;
      x -= rate * g / (std::sqrt(s[0]) + static_cast<double>(a.epsilon));
    });
  }
};

struct Adam : Rules<op::Adam> {
  static void infer(const op::Adam&, Infer& c) { infer_step(c, 4); }
  static void eval(const op::Adam& a, Eval& k) {
    const auto alpha = static_cast<double>(a.alpha), beta = static_cast<double>(a.beta),
               count = static_cast<double>(k.int_scalar(1));
    double rate = k.double_scalar(0);
    if (count > 0) rate *= std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count));
    eval_step<2>(k, [&](double& x, double g, double(&s)[2]) {
      g += static_cast<double>(a.norm_coefficient) * x;
      s[0] = alpha * s[0] + (1 - alpha) * g;
      s[1] = beta * s[1] + (1 - beta) * g * g;
      x = (1 - static_cast<double>(a.norm_coefficient_post)) *
          (x - rate * s[0] / (std::sqrt(s[1]) + static_cast<double>(a.epsilon)));
    });
  }
};

struct Momentum : Rules<op::Momentum> {
  static void infer(const op::Momentum& a, Infer& c) {
    check_mode(a);
    infer_step(c, 3);
  }
  static void check_mode(const op::Momentum& a) {
    if (a.mode != "nesterov" && a.mode != "standard")
      throw error("model.attribute", cat("mode '", a.mode, "' is not one of standard, nesterov"));
  }
  static void eval(const op::Momentum& a, Eval& k) {
    const double rate = k.double_scalar(0), beta = k.int_scalar(1) > 0 ? static_cast<double>(a.beta) : 1,
                 alpha = static_cast<double>(a.alpha);
    const bool nesterov = a.mode == "nesterov";
    check_mode(a);
    eval_step<1>(k, [&](double& x, double g, double(&s)[1]) {
      g += static_cast<double>(a.norm_coefficient) * x;
      s[0] = alpha * s[0] + beta * g;
      x -= rate * (nesterov ? g + alpha * s[0] : s[0]);
    });
  }
};

constexpr OpRules table[] = {rules<Adagrad>(), rules<Adam>(), rules<Momentum>()};

}  // namespace

std::span<const OpRules> optimizer_rules() { return table; }

}  // namespace cameo::ops
