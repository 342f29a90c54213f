// Kernels written in Python, for Session and verify.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "cameo/kernel.h"

namespace cameo::python {

// [(operator, function, shape rule | None), ...], or None.
std::vector<Kernel> kernels_of(nanobind::handle list);
// What the last kernel that failed on this thread raised; null where none did.
nanobind::object take_raised();

}  // namespace cameo::python
