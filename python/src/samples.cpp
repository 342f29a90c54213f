#include "samples.h"

#include <nanobind/stl/string.h>

#include "cameo/model.h"

namespace cameo::python {

namespace {

// {name: array, ...} from Python's iterator, one at a time.
SampleSource source_of(nb::object samples) {
  const auto iterator = keep(nb::iter(samples));
  return [iterator](std::vector<NamedValue>& inputs) {
    const nb::gil_scoped_acquire gil;
    nb::object next = nb::steal(PyIter_Next(static_cast<PyObject*>(const_cast<void*>(iterator.get()))));
    if (!next.is_valid()) {
      if (PyErr_Occurred()) throw nb::python_error();
      return false;
    }
    for (nb::handle entry : entries(next))
      inputs.emplace_back(nb::cast<std::string>(entry[0]), to_value(nb::object(entry[1])));
    return true;
  };
}

}  // namespace

SampleSource sample_source(const Model& m, nb::object samples, const std::string& image) {
  if (samples.is_none()) return {};
  if (nb::isinstance<nb::str>(samples)) return samples_from(m, nb::cast<std::string>(samples), image);
  return source_of(std::move(samples));
}

}  // namespace cameo::python
