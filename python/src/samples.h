// Samples of a model's inputs from Python.
#pragma once

#include <string>

#include "bindings.h"
#include "cameo/quantize.h"

namespace cameo::python {

// From a file name, with `image` for pictures, or an iterable of dicts, read one at a time. None: no source.
SampleSource sample_source(const Model& m, nb::object samples, const std::string& image);

}  // namespace cameo::python
