// torch.special: error functions, normal distributions, entropies, softmax.
#include <limits>
#include <numbers>

#include "lowering/arithmetic.h"
#include "lowering/aten/special/series.h"
#include "lowering/call_row.h"
#include "lowering/elementary.h"
#include "lowering/row.h"
#include "lowering/tables.h"

namespace cameo::lowering {

namespace {

V erf_inverse(Lower& on, V x) {
  const V one = on.number_like(1, x);
  const V w = on.Neg(on.Log(on.Mul(on.Sub(one, x), on.Add(one, x))));
  const V middle = polynomial(on, plus(on, w, -2.5),
                              {1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06,
                               -3.5233877e-06, 3.43273939e-07, 2.81022636e-08});
  const V tail = polynomial(on, plus(on, on.Sqrt(w), -3),
                            {2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844,
                             0.00134934322, 0.000100950558, -0.000200214257});
  const V y = on.Mul(x, on.Where(on.Less(w, on.number_like(5, x)), middle, tail));
  return on.Where(on.Equal(on.Abs(x), one), on.Mul(x, on.number_like(infinity, x)), y);
}

// exp(x^2) erfc(x)
V erfcx(Lower& on, V x) {
  const V t = on.Reciprocal(plus(on, times(on, on.Abs(x), 0.5), 1));
  const V y = on.Mul(t, on.Exp(polynomial(on, t,
                                          {-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807,
                                           -1.13520398, 1.48851587, -0.82215223, 0.17087277})));
  return on.Where(on.Less(x, on.number_like(0, x)), on.Sub(times(on, on.Exp(squared(on, x)), 2), y), y);
}

V log_ndtr(Lower& on, V x) {
  const V t = times(on, x, 1 / std::numbers::sqrt2);
  const V tail = on.Sub(on.Log(times(on, erfcx(on, on.Neg(at_most(on, t, 0))), 0.5)), squared(on, t));
  return on.Where(on.Less(x, on.number_like(-1, x)), tail, on.Log(times(on, plus(on, on.Erf(t), 1), 0.5)));
}

constexpr Row table[] = {
    {"aten::special_ndtr",
     [](Lower& on, V x) {
       return times(on, on.Add(on.number_like(1, x), erf(on, times(on, x, 1 / std::numbers::sqrt2))), 0.5);
     },
     promote_float(0)},
    {"aten::special_ndtri",
     [](Lower& on, V p) { return times(on, erf_inverse(on, plus(on, times(on, p, 2), -1)), std::numbers::sqrt2); },
     promote_float(0)},
    {"aten::special_log_ndtr", fn<log_ndtr>, promote_float(0)},
    {"aten::special_entr",
     [](Lower& on, V x) {
       const V zero = on.number_like(0, x);
       const V inside = on.Where(on.Equal(x, zero), zero, on.Neg(on.Mul(x, on.Log(x))));
       return V(on.Where(on.Less(x, zero), on.number_like(-std::numeric_limits<double>::infinity(), x), inside));
     },
     promote_float(0)},
    {"aten::special_xlog1py",
     [](Lower& on, V x, V y) {
       return V(on.Where(on.And(on.Equal(x, on.number_like(0, x)), on.Not(is_nan(on, y))), on.number_like(0, x),
                         on.Mul(x, log1p(on, y))));
     },
     promote_float(0, 1)},
    {"aten::special_erfinv", fn<erf_inverse>, promote_float(0)},
    {"aten::special_erfcx", fn<erfcx>, promote_float(0)},
    {"aten::special_log_softmax",
     [](Lower& on, V x, int64_t dim, Opt<DType> t) {
       return result(call_row(on, "aten::log_softmax.int", {Arg(x), Arg(Dim(dim)), optional_arg(t)}));
     }},
    {"aten::special_softmax",
     [](Lower& on, V x, int64_t dim, Opt<DType> t) {
       return result(call_row(on, "aten::softmax.int", {Arg(x), Arg(Dim(dim)), optional_arg(t)}));
     }},
    {"aten::erfinv", fn<erf_inverse>, promote_float(0)},
};

}  // namespace

std::span<const Row> special_functions_rows() { return table; }

}  // namespace cameo::lowering
