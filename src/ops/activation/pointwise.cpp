// Activations of one tensor, element by element.
#include <cmath>
#include <numbers>

#include "kernels/number_cast.h"
#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/revisions.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

template <class C>
C clamped(C x, C low, C high) {
  return x < low ? low : x > high ? high : x;  // keeps NaN
}
template <class C>
C sigmoid(C x) {
  return 1 / (1 + std::exp(-x));
}
template <class C>
C softplus(C x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

constexpr auto celu = [](auto x, const op::Celu& a) {
  using C = decltype(x);
  const C alpha = a.alpha;
  return x >= 0 ? x : alpha * std::expm1(x / alpha);
};
constexpr auto gelu = [](auto x, const op::Gelu& a) {
  using C = decltype(x);
  if (a.approximate != "tanh") return C(0.5) * x * (1 + std::erf(x / std::numbers::sqrt2_v<C>));
  const C inner = std::sqrt(2 / std::numbers::pi_v<C>) * (x + C(0.044715) * x * x * x);
  return C(0.5) * x * (1 + std::tanh(inner));
};
constexpr auto hard_sigmoid = [](auto x, const op::HardSigmoid& a) {
  using C = decltype(x);
  return clamped(C(a.alpha) * x + C(a.beta), C(0), C(1));
};
constexpr auto selu = [](auto x, const op::Selu& a) {
  using C = decltype(x);
  return x > 0 ? C(a.gamma) * x : C(a.gamma) * C(a.alpha) * std::expm1(x);
};
constexpr auto shrink = [](auto x, const op::Shrink& a) {
  using C = decltype(x);
  const double v = static_cast<double>(x), limit = static_cast<double>(a.lambd), bias = static_cast<double>(a.bias);
  if (v < -limit) return cast_number<C>(v + bias);
  return v > limit ? cast_number<C>(v - bias) : C{};
};

constexpr Revision selu_revisions[] = {{6,
                                        [](Upgrade& u) {
                                          u.drop("consumed_inputs");
                                          if (!u.has("alpha"))
                                            u.set("alpha", 1.6732f);  // the defaults had fewer digits
                                          if (!u.has("gamma")) u.set("gamma", 1.0507f);
                                        },
                                        [](Downgrade& d) {
                                          if (!d.has("alpha")) d.set("alpha", op::Selu{}.alpha);
                                          if (!d.has("gamma")) d.set("gamma", op::Selu{}.gamma);
                                        }}};

constexpr Expansion celu_expansions[] = {expansion<op::Celu>(12, Exactness::rounding, [](const op::Celu& a, Expand& e) {
  const ValueId alpha = e.on.number_like(static_cast<double>(a.alpha), e.in(0));
  e.replace({e.on.Mul(alpha, e.on.Elu(e.on.Div(e.in(0), alpha)))});
})};

constexpr Expansion gelu_expansions[] = {expansion<op::Gelu>(20, Exactness::rounding, [](const op::Gelu& a, Expand& e) {
  On& on = e.on;
  const ValueId x = e.in(0), one = on.number_like(1, x), half = on.number_like(0.5, x);
  ValueId gate;
  if (a.approximate == "tanh") {
    const ValueId cube = on.Mul(x, on.Mul(x, x));
    const ValueId inner = on.Add(x, on.Mul(cube, on.number_like(0.044715, x)));
    gate = on.Tanh(on.Mul(inner, on.number_like(std::sqrt(2 / std::numbers::pi), x)));
  } else {
    gate = on.Erf(on.Div(x, on.number_like(std::numbers::sqrt2, x)));
  }
  e.replace({on.Mul(on.Mul(x, on.Add(gate, one)), half)});
})};

constexpr Expansion hard_swish_expansions[] = {
    expansion<op::HardSwish>(14, Exactness::rounding, [](const op::HardSwish&, Expand& e) {
      e.replace({e.on.Mul(e.in(0), e.on.HardSigmoid(e.in(0), op::HardSigmoid{.alpha = 1.0f / 6, .beta = 0.5f}))});
    })};

constexpr Expansion mish_expansions[] = {expansion<op::Mish>(18, Exactness::rounding, [](const op::Mish&, Expand& e) {
  e.replace({e.on.Mul(e.in(0), e.on.Tanh(e.on.Softplus(e.in(0))))});
})};

constexpr Expansion swish_expansions[] = {
    expansion<op::Swish>(24, Exactness::rounding, [](const op::Swish& a, Expand& e) {
      On& on = e.on;
      const ValueId x = e.in(0), scaled = a.alpha == 1 ? x : on.Mul(x, on.number_like(static_cast<double>(a.alpha), x));
      e.replace({on.Mul(x, on.Sigmoid(scaled))});
    })};

constexpr Expansion thresholded_expansions[] = {
    expansion<op::ThresholdedRelu>(10, Exactness::exact, [](const op::ThresholdedRelu& a, Expand& e) {
      On& on = e.on;
      const ValueId x = e.in(0), limit = on.number_like(static_cast<double>(a.alpha), x);
      e.replace({on.Where(on.Greater(x, limit), x, on.number_like(0, x))});
    })};

constexpr OpRules table[] = {
    unary_float<op::Celu>(celu).with(celu_expansions),
    unary_float<op::Elu>([](auto x, const op::Elu& a) {
      return x < 0 ? decltype(x)(a.alpha) * std::expm1(x) : x;
    }).with(since_6),
    unary_float<op::Gelu>(gelu).with(gelu_expansions),
    unary_float<op::HardSigmoid>(hard_sigmoid).with(since_6),
    unary_float<op::HardSwish>([](auto x) {
      using C = decltype(x);
      return x * clamped(x / 6 + C(0.5), C(0), C(1));
    }).with(hard_swish_expansions),
    unary_float<op::LeakyRelu>([](auto x, const op::LeakyRelu& a) {
      return x < 0 ? decltype(x)(a.alpha) * x : x;
    }).with(since_6),
    unary_float<op::Mish>([](auto x) { return x * std::tanh(softplus(x)); }).with(mish_expansions),
    unary_number<op::Relu>([](auto x) { return x < 0 ? decltype(x){} : x; }).with(since_6),
    unary_float<op::Selu>(selu).with(selu_revisions),
    unary_number<op::Shrink>(shrink),
    unary_float<op::Sigmoid>([](auto x) { return sigmoid(x); }).with(since_6),
    unary_float<op::Softplus>([](auto x) { return softplus(x); }),
    unary_float<op::Softsign>([](auto x) { return x / (1 + std::fabs(x)); }),
    unary_float<op::Swish>([](auto x, const op::Swish& a) {
      return x * sigmoid(decltype(x)(a.alpha) * x);
    }).with(swish_expansions),
    unary_float<op::ThresholdedRelu>([](auto x, const op::ThresholdedRelu& a) {
      return x > decltype(x)(a.alpha) ? x : 0;
    }).with(thresholded_expansions),
};

}  // namespace

std::span<const OpRules> activation_rules() { return table; }

}  // namespace cameo::ops
