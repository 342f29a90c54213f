// Integer arithmetic on known, possibly symbolic contents: what keeps shape computations known. Each function sets the
// contents of output 0, whose shape must be set, or leaves them unknown.
#pragma once

#include <functional>

#include "ops/infer.h"

namespace cameo::ops {

using DimFunction1 = Dim (*)(Dim);
using DimFunction2 = Dim (*)(Dim, Dim);

void map_contents(Infer& c, DimFunction1 f);
void zip_contents(Infer& c, DimFunction2 f);  // over all inputs from left to right, with broadcasting
// The known elements of an input, repeated over the literal shape of output 0.
std::optional<std::vector<Dim>> contents_like_output(Infer& c, size_t input);
// Runs `f`; arithmetic that overflows or divides by zero leaves the contents unknown.
void try_contents(Infer& c, const std::function<std::vector<Dim>()>& f);
// Elements are compared by `ask`; known answers for all make a constant.
void compare_contents(Infer& c, const std::function<Answer(Dim, Dim)>& ask);

}  // namespace cameo::ops
