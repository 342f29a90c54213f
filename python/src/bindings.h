// What the files of the Python module share.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/onnx/writer.h"
#include "ir/graph.h"
#include "kernels/datum.h"
#include "support/budget.h"

namespace cameo::python {

namespace nb = nanobind;

// cameo.Model: a model, how it is written unless told otherwise, and what was found while it was made.
struct PyModel {
  Model model;
  WriteOptions write;
  std::vector<Diag> findings;
};

// Python's lock given away for a long call, which stops with KeyboardInterrupt where Python has one to raise.
bool keyboard_interrupt();
struct Released {
  nb::gil_scoped_release gil;
  StopQuestionScope stop{keyboard_interrupt};
};

// The bytes behind an object with the buffer protocol, which stays alive with them; nothing is copied.
Bytes bytes_of(nb::handle buffer);

// Arrays: NumPy's and everything with __dlpack__ come in without a copy where they are dense and on the CPU; lists of
// strings are string tensors, None is absent. Throws run.dtype.
Datum to_datum(nb::handle array, DType wanted = DType::undefined);
Tensor to_tensor(nb::handle array, DType wanted = DType::undefined);
nb::object to_python(const Datum& d);  // a NumPy array that shares the memory

// A name from a file, which may be any bytes: those that are not UTF-8 become \xNN. Whoever shows it escapes the rest.
inline nb::str name_text(std::string_view s) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace"));
}

nb::list diag_list(const std::vector<Diag>& diags);
nb::object type_of(const Type& t);  // (kind, dtype, [int | str | None, ...] | None)

// Reads options from a dict by name; what nobody took at the end is a mistake of the caller.
class Options {
 public:
  explicit Options(nb::dict given) : given_(std::move(given)) {}
  bool flag(const char* key, bool fallback = false);
  int64_t integer(const char* key, int64_t fallback);
  std::string text(const char* key, const char* fallback = "");
  std::vector<std::string> texts(const char* key);
  nb::object object(const char* key);  // None where it is not given
  void finish();                       // throws use.option

 private:
  nb::dict given_;
};

void bind_diag(nb::module_& m);
void bind_limits(nb::module_& m);
void bind_model(nb::module_& m);
void bind_verbs(nb::module_& m);
void bind_export(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_session(nb::module_& m);

}  // namespace cameo::python
