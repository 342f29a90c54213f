// torch, Pointwise Ops: exponentials, logarithms, trigonometry.
#include <numbers>

#include "lowering/arithmetic.h"
#include "lowering/aten/special/series.h"
#include "lowering/elementary.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V xlogy(Lower& on, V x, V y) {
  return on.Where(on.And(on.Equal(x, on.number_like(0, x)), on.Not(is_nan(on, y))), on.number_like(0, x),
                  on.Mul(x, on.Log(y)));
}

V sinc(Lower& on, V x) {
  const V p = on.Mul(x, on.number_like(std::numbers::pi, x)), zero = on.Equal(x, on.number_like(0, x));
  return on.Where(zero, on.number_like(1, x), on.Div(on.Sin(p), on.Where(zero, on.number_like(1, x), p)));
}

V logit(Lower& on, V x, const Opt<double>& eps) {
  if (eps) x = on.Clip(x, on.number_like(*eps, x), on.number_like(1 - *eps, x));
  return on.Log(on.Div(x, on.Sub(on.number_like(1, x), x)));
}

constexpr Row table[] = {
    {"aten::exp", [](Lower& on, V x) { return V(on.Exp(x)); }, promote_float(0)},
    {"aten::exp2", [](Lower& on, V x) { return V(on.Pow(on.number_like(2, x), x)); }, promote_float(0)},
    {"aten::expm1", fn<expm1>, promote_float(0)},
    {"aten::log", [](Lower& on, V x) { return V(on.Log(x)); }, promote_float(0)},
    {"aten::log1p", fn<log1p>, promote_float(0)},
    {"aten::log2", fn<log2>, promote_float(0)},
    {"aten::log10", fn<log10>, promote_float(0)},
    {"aten::sin", [](Lower& on, V x) { return V(on.Sin(x)); }, promote_float(0)},
    {"aten::cos", [](Lower& on, V x) { return V(on.Cos(x)); }, promote_float(0)},
    {"aten::tan", fn<tan>, promote_float(0)},
    {"aten::asin", fn<asin>, promote_float(0)},
    {"aten::acos", fn<acos>, promote_float(0)},
    {"aten::atan", fn<atan>, promote_float(0)},
    {"aten::atan2", fn<atan2>, promote_float(0, 1)},
    {"aten::sinh", fn<sinh>, promote_float(0)},
    {"aten::cosh", fn<cosh>, promote_float(0)},
    {"aten::tanh", [](Lower& on, V x) { return V(on.Tanh(x)); }, promote_float(0)},
    {"aten::asinh", fn<asinh>, promote_float(0)},
    {"aten::acosh", fn<acosh>, promote_float(0)},
    {"aten::atanh", fn<atanh>, promote_float(0)},
    {"aten::erf", fn<erf>, promote_float(0)},
    {"aten::erfc", fn<erfc>, promote_float(0)},
    {"aten::deg2rad", [](Lower& on, V x) { return times(on, x, std::numbers::pi / 180); }, promote_float(0)},
    {"aten::rad2deg", [](Lower& on, V x) { return times(on, x, 180 / std::numbers::pi); }, promote_float(0)},
    {"aten::sinc", fn<sinc>, promote_float(0)},
    {"aten::logit", fn<logit>, promote_float(0)},
    {"aten::xlogy.Tensor", fn<xlogy>, promote_float(0, 1)},
    {"aten::xlogy.Scalar_Other", fn<xlogy>, promote_float(0, 1)},
    {"aten::xlogy.Scalar_Self", fn<xlogy>, promote_float(0, 1)},
};

}  // namespace

std::span<const Row> torch_pointwise_functions_rows() { return table; }

}  // namespace cameo::lowering
