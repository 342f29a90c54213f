// Reports that several verbs give, as tuples.
#pragma once

#include "bindings.h"
#include "cameo/lint.h"

namespace cameo::python {

// ([(target, version), ...], [finding, ...], how many are ignored, all as SARIF)
nb::tuple report_tuple(const LintReport& report);

}  // namespace cameo::python
