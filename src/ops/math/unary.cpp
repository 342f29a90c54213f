// Elementwise functions of one tensor.
#include <cmath>
#include <limits>

#include "ops/families.h"
#include "ops/math/elementwise.h"
#include "ops/math/int_contents.h"
#include "ops/math/revisions.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

template <class C>
C negated(C x) {
  if constexpr (std::is_integral_v<C>) return static_cast<C>(uint64_t{0} - static_cast<uint64_t>(x));  // wraps
  else return -x;
}

constexpr auto absolute = [](auto x) {
  if constexpr (std::is_floating_point_v<decltype(x)>) return std::fabs(x);
  else return x < 0 ? negated(x) : x;
};
constexpr auto sign = [](auto x) {
  using C = decltype(x);
  return x > C{} ? C{1} : x < C{} ? static_cast<C>(-1) : x;  // keeps NaN and zeros
};
constexpr auto is_inf = [](auto x, const op::IsInf& a) {
  return std::isinf(x) && (x > 0 ? a.detect_positive != 0 : a.detect_negative != 0);
};

constexpr Expansion round_expansions[] = {
    expansion<op::Round>(11, Exactness::rounding, [](const op::Round&, Expand& e) {
      // Away from halves: the floor, or one more. On a half: the even neighbour.
      On& on = e.on;
      const ValueId x = e.in(0), half = on.number_like(0.5, x), one = on.number_like(1, x), two = on.number_like(2, x);
      const ValueId low = on.Floor(x), rest = on.Sub(x, low), high = on.Add(low, one);
      const ValueId even = on.Mul(on.Floor(on.Div(high, two)), two);
      e.replace({on.Where(on.Less(rest, half), low, on.Where(on.Greater(rest, half), high, even))});
    })};

constexpr Expansion is_inf_expansions[] = {
    expansion<op::IsInf>(10, Exactness::exact, [](const op::IsInf& a, Expand& e) {
      On& on = e.on;
      const double most = largest_finite(e.dtype(0));
      const ValueId x = e.in(0), above = on.Greater(x, on.number_like(most, x)),
                    below = on.Less(x, on.number_like(-most, x));
      const ValueId none = on.Less(x, x);
      e.replace({a.detect_positive && a.detect_negative ? on.Or(above, below)
                 : a.detect_positive                    ? above
                 : a.detect_negative                    ? below
                                                        : none});
    })};

constexpr OpRules table[] = {
    unary_number<op::Abs>(absolute)
        .inferring([](const void*, Infer& c) {
          infer_like_first(c);
          map_contents(c, [](Dim d) { return max(d, -d); });
        })
        .with(since_6),
    unary_number<op::Neg>([](auto x) { return negated(x); })
        .inferring([](const void*, Infer& c) {
          infer_like_first(c);
          map_contents(c, [](Dim d) { return -d; });
        })
        .with(since_6),
    unary_number<op::Sign>(sign),
    unary_float<op::Acos>([](auto x) { return std::acos(x); }),
    unary_float<op::Acosh>([](auto x) { return std::acosh(x); }),
    unary_float<op::Asin>([](auto x) { return std::asin(x); }),
    unary_float<op::Asinh>([](auto x) { return std::asinh(x); }),
    unary_float<op::Atan>([](auto x) { return std::atan(x); }),
    unary_float<op::Atanh>([](auto x) { return std::atanh(x); }),
    unary_float<op::Ceil>([](auto x) { return std::ceil(x); }).with(since_6),
    unary_float<op::Cos>([](auto x) { return std::cos(x); }),
    unary_float<op::Cosh>([](auto x) { return std::cosh(x); }),
    unary_float<op::Erf>([](auto x) { return std::erf(x); }),
    unary_float<op::Exp>([](auto x) { return std::exp(x); }).with(since_6),
    unary_float<op::Floor>([](auto x) { return std::floor(x); }).with(since_6),
    unary_float<op::Log>([](auto x) { return std::log(x); }).with(since_6),
    unary_float<op::Reciprocal>([](auto x) { return 1 / x; }).with(since_6),
    unary_float<op::Round>([](auto x) { return std::nearbyint(x); }).with(round_expansions),
    unary_float<op::Sin>([](auto x) { return std::sin(x); }),
    unary_float<op::Sinh>([](auto x) { return std::sinh(x); }),
    unary_float<op::Sqrt>([](auto x) { return std::sqrt(x); }).with(since_6),
    unary_float<op::Tan>([](auto x) { return std::tan(x); }),
    unary_float<op::Tanh>([](auto x) { return std::tanh(x); }).with(since_6),
    float_predicate<op::IsInf>(is_inf).with(is_inf_expansions),
    float_predicate<op::IsNaN>([](auto x) { return std::isnan(x); }),
    unary_over<op::Not, BoolCarrier>([](uint8_t x) { return !x; }),
};

}  // namespace

std::span<const OpRules> unary_rules() { return table; }

}  // namespace cameo::ops
