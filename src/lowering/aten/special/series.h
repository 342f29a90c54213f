// Polynomials and their arguments, for special functions.
#pragma once

#include <initializer_list>
#include <limits>
#include <numbers>

#include "lowering/lower.h"

namespace cameo::lowering {

inline constexpr double pi = std::numbers::pi, infinity = std::numeric_limits<double>::infinity();
using Coefficients = std::initializer_list<double>;  // constant term first
V polynomial(Lower& on, V x, Coefficients c);
V fraction(Lower& on, V x);  // in [-1/2, 1/2]: sin and tan of pi x lose nothing

}  // namespace cameo::lowering
