// Activations that were spelt out, as the operators that say them. The rewriter drops those that the target opset
// lacks.
#include <cmath>

#include "passes/pattern.h"
#include "passes/rules/tables.h"

namespace cameo::passes {

namespace {

const double half_root = std::sqrt(0.5), root = std::sqrt(2.0), tanh_scale = std::sqrt(2.0 / 3.14159265358979323846);

Replacement gelu(const Var& x, std::string approximate) {
  return [=](Rewrite& rw, const Match& m) { return rw.on.Gelu(m[x], op::Gelu{.approximate = approximate}); };
}

Rule gelu_tanh() {
  Var x;
  std::vector<Pattern> forms;
  for (const Pattern& cube : {pow(x, 3.0), x * x * x, x * (x * x)})
    for (const Pattern& inner :
         {(x + cube * 0.044715) * tanh_scale, x * tanh_scale * (x * x * 0.044715 + 1.0),
          x * (x * x * 0.044715 + 1.0) * tanh_scale, (x * tanh_scale) * (x * (x * 0.044715) + 1.0)}) {
      const Pattern one_plus = tanh(inner) + 1.0;
      forms.insert(forms.end(), {x * one_plus * 0.5, (x * 0.5) * one_plus, x * (one_plus * 0.5)});
    }
  return rule("gelu-tanh", std::move(forms), gelu(x, "tanh")).rounding().making({"Gelu"});
}

bool is_scalar(const Rewrite& rw, ValueId v) { return rw.has_rank(v) && rw.rank(v) <= 1 && rw.scalar(v).has_value(); }

Rule swish_scaled() {
  Var x;
  Const a;
  return rule("swish-scaled", x * sigmoid(x * a),
              [=](Rewrite& rw, const Match& m) {
                if (!is_scalar(rw, m[a])) return rw.no("the factor is not a single number"), ValueId();
                return rw.on.Swish(m[x], op::Swish{.alpha = static_cast<float>(*rw.scalar(m[a]))});
              })
      .rounding()
      .making({"Swish"});
}

// clip(x * a + b, 0, 1)
Rule hard_sigmoid() {
  return rule("hard-sigmoid", {"Div", "Mul"},
              [](Rewrite& rw) {
                // clip(x + 3, 0, 6) / 6
                const bool second = rw.is_constant(rw.in(1));
                if (!second && rw.root().is("Div")) return;
                const auto by = rw.scalar(rw.in(second ? 1 : 0));
                const ValueId y = rw.in(second ? 0 : 1);
                if (!by || *by == 0 || !rw.made_by<op::Clip>(y) || !is_float(rw.dtype(y))) return;
                const double scale = rw.root().is("Div") ? 1 / *by : *by;
                const auto lo = rw.scalar(rw.operand(y, 1)), hi = rw.scalar(rw.operand(y, 2));
                if (!lo || !hi || *lo != 0 || std::abs(*hi * scale - 1) > 1e-6)
                  return rw.no("it does not clip to [0, 1]");
                const ValueId sum = rw.operand(y, 0);
                if (!rw.made_by<op::Add>(sum)) return;
                const bool right = rw.is_constant(rw.operand(sum, 1));
                const auto shift = rw.scalar(rw.operand(sum, right ? 1 : 0));
                if (!shift) return;
                rw.replace(rw.on.HardSigmoid(
                    rw.operand(sum, right ? 0 : 1),
                    op::HardSigmoid{.alpha = static_cast<float>(scale), .beta = static_cast<float>(*shift * scale)}));
              })
      .rounding()
      .making({"HardSigmoid"});
}

bool near(float a, double b) { return std::abs(static_cast<double>(a) - b) < 1e-6; }

Rule hard_swish() {
  Var x;
  const Pattern gate = call("HardSigmoid", {x}).where<op::HardSigmoid>([](const op::HardSigmoid& a) {
    return near(a.alpha, 1.0 / 6) && near(a.beta, 0.5);
  });
  const Pattern clipped = call("Clip", {x + 3.0, 0.0, 6.0});
  const std::vector<Pattern> forms{x * gate, x * clipped / 6.0, x * (clipped / 6.0), x * clipped * (1.0 / 6),
                                   x * (clipped * (1.0 / 6))};
  return rule("hard-swish", forms, [=](Rewrite& rw, const Match& m) { return rw.on.HardSwish(m[x]); })
      .rounding()
      .making({"HardSwish"});
}

Rule mish() {
  Var x;
  const std::vector<Pattern> forms{x * tanh(call("Softplus", {x})), x * tanh(call("Log", {exp(x) + 1.0}))};
  return rule("mish", forms, [=](Rewrite& rw, const Match& m) { return rw.on.Mish(m[x]); }).rounding().making({"Mish"});
}

Rule softplus() {
  Var x;
  return rule("softplus", call("Log", {exp(x) + 1.0}),
              [=](Rewrite& rw, const Match& m) { return rw.on.Softplus(m[x]); })
      .rounding()
      .making({"Softplus"})
      .last();
}

Rule sigmoid_spelt() {
  Var x;
  const Pattern spread = exp(call("Neg", {x})) + 1.0;
  return rule("sigmoid", std::vector<Pattern>{1.0 / spread, reciprocal(spread)},
              [=](Rewrite& rw, const Match& m) { return rw.on.Sigmoid(m[x]); })
      .rounding();
}

Rule softsign() {
  Var x;
  return rule("softsign", x / (call("Abs", {x}) + 1.0),
              [=](Rewrite& rw, const Match& m) { return rw.on.Softsign(m[x]); })
      .rounding();
}

// exp(x) / sum(exp(x)), with or without the maximum taken off first.
Rule softmax() {
  Var x;
  Const axes, again;
  const auto keeps = [](const auto& r) { return r.keepdims == 1; };
  const Pattern shifted = exp(x - call("ReduceMax", {x, again}).where<op::ReduceMax>(keeps)), plain = exp(x);
  const auto over = [=](const Pattern& e) { return e / call("ReduceSum", {e, axes}).where<op::ReduceSum>(keeps); };
  return rule("softmax", std::vector<Pattern>{over(shifted)},
              [=](Rewrite& rw, const Match& m) {
                const auto a = rw.ints(m[axes]), b = rw.ints(m[again]);
                if (!a || !b || a->size() != 1 || *a != *b)
                  return rw.no("the sum and the maximum are over different axes"), ValueId();
                return rw.on.Softmax(m[x], op::Softmax{.axis = (*a)[0]});
              })
      .rounding();
}

}  // namespace

Rule gelu_erf() {
  Var x;
  std::vector<Pattern> forms;
  for (const Pattern& e : {erf(x / root), erf(x * half_root)}) {
    const Pattern one_plus = e + 1.0;
    forms.insert(forms.end(), {x * one_plus * 0.5, (x * 0.5) * one_plus, x * (one_plus * 0.5), (x * one_plus) / 2.0,
                               (x / 2.0) * one_plus});
    const Pattern half_plus = e * 0.5 + 0.5;
    forms.push_back(x * half_plus);
  }
  return rule("gelu", std::move(forms), gelu(x, "none")).rounding().making({"Gelu"});
}

Rule swish() {
  Var x;
  return rule("swish", x * sigmoid(x), [=](Rewrite& rw, const Match& m) { return rw.on.Swish(m[x]); })
      .rounding()
      .making({"Swish"});
}

std::vector<Rule> activation_fusion_rules() {
  return {gelu_erf(),     gelu_tanh(), hard_sigmoid(),  hard_swish(), mish(),   swish(),
          swish_scaled(), softplus(),  sigmoid_spelt(), softsign(),   softmax()};
}

}  // namespace cameo::passes
