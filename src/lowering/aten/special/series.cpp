#include "lowering/aten/special/series.h"

#include "lowering/arithmetic.h"

namespace cameo::lowering {

V polynomial(Lower& on, V x, Coefficients c) {
  V y = on.number_like(*(c.end() - 1), x);
  for (const double* p = c.end() - 1; p != c.begin();) y = plus(on, on.Mul(y, x), *--p);
  return y;
}

V fraction(Lower& on, V x) { return on.Sub(x, on.Round(x)); }  // in [-1/2, 1/2]: sin and tan of pi x lose nothing

}  // namespace cameo::lowering
