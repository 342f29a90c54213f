// Elementary functions, element by element, for every float type. Where ONNX Runtime has only a single precision kernel
// (Tan, Asin, Atan, Sinh, Erf and their like), a double goes through forms of Exp, Log, Sin and Cos, which it has for
// doubles too.
#pragma once

#include <tuple>

#include "lowering/lower.h"

namespace cameo::lowering {

V tan(Lower& on, V x);
V asin(Lower& on, V x);
V acos(Lower& on, V x);
V atan(Lower& on, V x);
V atan2(Lower& on, V y, V x);
V sinh(Lower& on, V x);
V cosh(Lower& on, V x);
V asinh(Lower& on, V x);
V acosh(Lower& on, V x);
V atanh(Lower& on, V x);
V expm1(Lower& on, V x);
V log1p(Lower& on, V x);
V log2(Lower& on, V x);  // of a double: exact for powers of the base, so that int() of it is right
V log10(Lower& on, V x);
V erf(Lower& on, V x);
V erfc(Lower& on, V x);
V truncated(Lower& on, V x);  // towards zero; ints stay
V copysign(Lower& on, V a, V b);
V is_inf(Lower& on, V x, bool positive = true, bool negative = true);

}  // namespace cameo::lowering
