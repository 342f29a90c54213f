// Constant shapes for Reshape where sizes are symbolic: a 0 copies the input's size, one -1 takes what is left.
#pragma once

#include "passes/rule.h"

namespace cameo::passes {

bool at_least_one(const Rewrite& rw, Dim d);
// The constant that reshapes `from` to `to`, or nothing. -1 is used only where all other sizes are at least 1: beside a
// 0 it cannot be solved.
std::optional<std::vector<int64_t>> reshape_form(const Rewrite& rw, const Shape& from, const Shape& to);
// x under the shape `to`: x itself, or a Reshape by a constant; none when neither can be expressed.
ValueId reshape_to(Rewrite& rw, ValueId x, const Shape& to);

}  // namespace cameo::passes
