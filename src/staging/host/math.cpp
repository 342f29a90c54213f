// Python's math module. Its floats are doubles, and so are those of the graph. Errors are C's: where Python raises,
// TorchScript gives nan or inf.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "lowering/elementary.h"
#include "lowering/aten/special/gamma.h"
#include "staging/host/reals.h"
#include "staging/host/tables.h"

namespace cameo::staging {

namespace {

using std::numbers::pi;
using OnGraph = V (*)(Lower&, V);
using OnGraph2 = V (*)(Lower&, V, V);

template <double (*F)(double), OnGraph G>
Results unary(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_known_real(c[0])) return one(F(real(c[0])));
  return one(Value(StagedFloat{G(c.s.on, staged(c, c[0]))}));
}
template <double (*F)(double, double), OnGraph2 G>
Results binary(HostCall& c) {
  if (c.size() != 2 || !two(c, is_real)) return std::nullopt;
  if (is_known_real(c[0]) && is_known_real(c[1])) return one(F(real(c[0]), real(c[1])));
  return one(Value(StagedFloat{G(c.s.on, staged(c, c[0]), staged(c, c[1]))}));
}
template <bool (*F)(double), OnGraph G>
Results question(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_known_real(c[0])) return one(F(real(c[0])));
  return one(Value(StagedBool{G(c.s.on, staged(c, c[0]))}));
}

// As nodes.
V exp_(Lower& on, V x) { return on.Exp(x); }
V log_(Lower& on, V x) { return on.Log(x); }
V sin_(Lower& on, V x) { return on.Sin(x); }
V cos_(Lower& on, V x) { return on.Cos(x); }
V tanh_(Lower& on, V x) { return on.Tanh(x); }
V sqrt_(Lower& on, V x) { return on.Sqrt(x); }
V abs_(Lower& on, V x) { return on.Abs(x); }
V power(Lower& on, V a, V b) { return on.Pow(a, b); }
V degrees(Lower& on, V x) { return on.Mul(x, on.number_like(180 / pi, x)); }
V radians(Lower& on, V x) { return on.Mul(x, on.number_like(pi / 180, x)); }
V fmod_(Lower& on, V a, V b) { return on.Mod(a, b, {.fmod = 1}); }
V log_of(Lower& on, V x, V base) { return on.Div(on.Log(x), on.Log(base)); }
V ldexp_(Lower& on, V x, V e) { return on.Mul(x, on.Pow(on.number_like(2, x), e)); }
V nan_test(Lower& on, V x) { return on.IsNaN(x); }
V inf_test(Lower& on, V x) { return on.IsInf(x); }
V finite_test(Lower& on, V x) { return on.Not(on.Or(on.IsNaN(x), on.IsInf(x))); }

// IEEE's remainder: the quotient rounded to even. All steps are exact.
V nearest_remainder(Lower& on, V a, V b) {
  const V size = on.Abs(b), two = on.number_like(2, a);
  const V wide = fmod_(on, on.Abs(a), on.Mul(size, two)), odd = on.GreaterOrEqual(wide, size),
          r = on.Where(odd, on.Sub(wide, size), wide);
  const V twice = on.Mul(r, two), up = on.Or(on.Greater(twice, size), on.And(on.Equal(twice, size), odd));
  const V signed_r = copysign(on, on.number_like(1, a), a);
  const V y = on.Mul(on.Where(up, on.Sub(r, size), r), signed_r);
  return on.Where(on.And(on.IsInf(b), finite_test(on, a)), a, y);
}

V table_of(Lower& on, const std::vector<double>& v) {
  return on.constant(Tensor::of<double>(DType::f64, {static_cast<int64_t>(v.size())}, v));
}

// Whole numbers have their factorials, exactly; others Lanczos' form, reflected below zero.
V gamma(Lower& on, V x) {
  const V zero = on.number_like(0, x), one = on.number_like(1, x), below = on.Less(x, on.number_like(0.5, x));
  const V far = on.Exp(log_gamma(on, on.Where(below, on.Sub(one, x), x)));
  const V angle = on.Mul(on.Sub(x, on.Mul(on.number_like(2, x), on.Round(on.Mul(x, on.number_like(0.5, x))))),
                         on.number_like(pi, x));
  const V y = on.Where(below, on.Div(on.number_like(pi, x), on.Mul(on.Sin(angle), far)), far);
  std::vector<double> exact;
  for (int n = 0; n < 170; ++n) exact.push_back(std::tgamma(n + 1.0));
  const V whole = on.Equal(x, on.Floor(x)),
          listed = on.And(whole, on.And(on.GreaterOrEqual(x, one), on.Less(x, on.number_like(171, x))));
  const V at = on.to(on.Where(listed, on.Sub(x, one), zero), DType::i64);
  const V pole = on.Where(on.Equal(x, zero), on.Reciprocal(x), on.number_like(std::nan(""), x));
  return on.Where(listed, on.Gather(table_of(on, exact), at),
                  on.Where(on.And(whole, on.LessOrEqual(x, zero)), pole, y));
}

// Of known numbers.
double degrees_of(double x) { return x * 180.0 / pi; }
double radians_of(double x) { return x * pi / 180.0; }
double log_base(double x, double base) { return std::log(x) / std::log(base); }
double ldexp_of(double x, double e) { return std::ldexp(x, static_cast<int>(std::clamp(e, -5000.0, 5000.0))); }
bool is_nan(double x) { return std::isnan(x); }
bool is_infinite(double x) { return std::isinf(x); }
bool is_finite(double x) { return std::isfinite(x); }

Results split_fraction(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_known_real(c[0])) {
    double whole = 0;
    const double fraction = std::modf(real(c[0]), &whole);
    return std::vector<Value>{fraction, whole};
  }
  auto& on = c.s.on;
  const V x = staged(c, c[0]), whole = truncated(on, x);
  const V fraction = on.Where(on.IsInf(x), on.number_like(0, x), on.Sub(x, whole));
  return std::vector<Value>{Value(StagedFloat{fraction}), Value(StagedFloat{whole})};
}
Results split_exponent(HostCall& c) {
  if (c.size() != 1 || !is_real(c[0])) return std::nullopt;
  if (is_known_real(c[0])) {
    int exponent = 0;
    const double mantissa = std::frexp(real(c[0]), &exponent);
    return std::vector<Value>{mantissa, Dim(exponent)};
  }
  const auto parts = c.s.call_op("aten", "frexp", {{c.s.tensor(staged(c, c[0]))}, {}});
  return std::vector<Value>{c.s.float_from(parts[0]), c.s.int_from(parts[1])};
}

// The product modulo 2^64, as PyTorch's loop leaves it: 0 from 66 on.
Results factorial(HostCall& c) {
  if (c.size() != 1 || !is_int(c[0])) return std::nullopt;
  std::vector<int64_t> products{1};
  for (uint64_t n = 1, p = 1; n <= 66; ++n) products.push_back(static_cast<int64_t>(p *= n));
  const Dim n = c.s.int_from(c[0]);
  auto& on = c.s.on;
  if (!n.is_literal())
    return one(on.int_of(on.Gather(on.constant(Tensor::ints(products)), on.int_scalar(min(n, Dim(66))))));
  if (n.literal() < 0) c.s.fail("stage.number", "the factorial of a negative number");
  return one(Dim(products[static_cast<size_t>(std::min<int64_t>(n.literal(), 66))]));
}
Results common_divisor(HostCall& c) {
  if (c.size() != 2 || !two(c, is_int)) return std::nullopt;
  const Dim a = c.s.int_from(c[0]), b = c.s.int_from(c[1]);
  if (a.is_literal() && b.is_literal()) return one(Dim(std::gcd(a.literal(), b.literal())));
  const auto d = c.s.call_op("aten", "gcd", {{c.s.tensor(c.s.on.int_scalar(a)), c.s.tensor(c.s.on.int_scalar(b))}, {}});
  return one(c.s.int_from(d[0]));
}

constexpr HostRow table[] = {
    {"aten::sqrt", unary<std::sqrt, sqrt_>},
    {"aten::exp", unary<std::exp, exp_>},
    {"aten::expm1", unary<std::expm1, expm1>},
    {"aten::log", unary<std::log, log_>},
    {"aten::log", binary<log_base, log_of>},
    {"aten::log1p", unary<std::log1p, log1p>},
    {"aten::log2", unary<std::log2, log2>},
    {"aten::log10", unary<std::log10, log10>},
    {"aten::sin", unary<std::sin, sin_>},
    {"aten::cos", unary<std::cos, cos_>},
    {"aten::tan", unary<std::tan, tan>},
    {"aten::asin", unary<std::asin, asin>},
    {"aten::acos", unary<std::acos, acos>},
    {"aten::atan", unary<std::atan, atan>},
    {"aten::atan2", binary<std::atan2, atan2>},
    {"aten::sinh", unary<std::sinh, sinh>},
    {"aten::cosh", unary<std::cosh, cosh>},
    {"aten::tanh", unary<std::tanh, tanh_>},
    {"aten::asinh", unary<std::asinh, asinh>},
    {"aten::acosh", unary<std::acosh, acosh>},
    {"aten::atanh", unary<std::atanh, atanh>},
    {"aten::erf", unary<std::erf, erf>},
    {"aten::erfc", unary<std::erfc, erfc>},
    {"aten::gamma", unary<std::tgamma, gamma>},
    {"aten::lgamma", unary<std::lgamma, log_gamma>},
    {"aten::fabs", unary<std::fabs, abs_>},
    {"aten::degrees", unary<degrees_of, degrees>},
    {"aten::radians", unary<radians_of, radians>},
    {"aten::pow", binary<std::pow, power>},
    {"aten::fmod", binary<std::fmod, fmod_>},
    {"aten::mathremainder", binary<std::remainder, nearest_remainder>},
    {"aten::copysign", binary<std::copysign, copysign>},
    {"aten::ldexp", binary<ldexp_of, ldexp_>},
    {"aten::isnan", question<is_nan, nan_test>},
    {"aten::isinf", question<is_infinite, inf_test>},
    {"aten::isfinite", question<is_finite, finite_test>},
    {"aten::modf", split_fraction},
    {"aten::frexp", split_exponent},
    {"aten::factorial", factorial},
    {"aten::gcd", common_divisor},
};

}  // namespace

std::span<const HostRow> host_math_rows() { return table; }

}  // namespace cameo::staging
