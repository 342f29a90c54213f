// View operators, a row each: where the elements of the view lie, and what a write through it makes of its parent.
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

// The layout of a view; unknown where no row says it. The step has its value.
Layout view_layout(Machine& s, const ViewStep& step, const Layout& parent, const Dims& parent_shape);
// The parent's new value when the view's is `value`.
V put_through(Machine& s, const ViewStep& step, V parent, V value);
// The view made anew: of its parent's present value, or of anything that has the parent's shape.
V derive(Machine& s, const ViewStep& step, V parent);

}  // namespace cameo::staging
