// Findings with the names of Python's arguments: dynamic_axes={"x": {0: "batch"}}, not --input 'x=f32[batch,3]'.
#pragma once

#include <string>
#include <string_view>

#include "cameo/diag.h"

namespace cameo::python {

std::string in_python(std::string_view text);
Diag in_python(Diag d);

}  // namespace cameo::python
