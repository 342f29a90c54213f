// Findings, and the two types of exceptions: Error, and Bug for mistakes of Cameo's own.
#include "cameo/diag.h"

#include <nanobind/stl/string.h>

#include <stdexcept>

#include "bindings.h"
#include "cameo/face.h"
#include "own_kernels.h"
#include "words.h"

namespace cameo::python {

namespace {

PyObject *error_type = nullptr, *bug_type = nullptr;

nb::object place(const Loc& where) {
  if (where.empty()) return nb::none();
  nb::dict d;
  d["file"] = printable_text(where.file);
  d["line"] = where.line;
  d["column"] = where.column;
  d["scope"] = printable_text(where.scope);
  d["source"] = printable_text(where.source);
  d["text"] = printable_text(where.describe());
  return std::move(d);
}

const char* severity(const Diag& d) {
  return d.severity == Severity::error ? "error" : d.severity == Severity::warning ? "warning" : "note";
}

nb::list notes(const Diag& d) {
  nb::list out;
  for (const Note& n : d.notes) out.append(nb::str(printable_text(n.text).c_str()));
  return out;
}

void raise(const Error& e, PyObject* type) {
  std::string text;
  for (const Diag& d : e.diags()) text += (text.empty() ? "" : "\n") + in_python(d).render();
  while (text.ends_with('\n')) text.pop_back();
  nb::object made = nb::handle(type)(text);
  made.attr("diagnostics") = diag_list(e.diags());
  made.attr("code") = e.diag().code;
  made.attr("exit_code") = e.exit_code();
  if (nb::object cause = take_raised(); cause.is_valid() && e.diag().code == "kernel.failed")
    PyException_SetCause(made.ptr(), cause.release().ptr());
  PyErr_SetObject(type, made.ptr());
}

}  // namespace

Error failure(std::string code, std::string what, std::string hint) {
  return Error(Diag{Severity::error, std::move(code), std::move(what), {}, std::move(hint), {}, {}});
}

nb::list diag_list(const std::vector<Diag>& diags) {
  nb::list out;
  for (const Diag& d : diags) out.append(nb::cast(in_python(d)));
  return out;
}

static PyObject* exception_type(nb::module_& m, const char* name, const char* doc, PyObject* base) {
  nb::object made = nb::steal(PyErr_NewExceptionWithDoc((std::string("cameo.") + name).c_str(), doc, base, nullptr));
  made.attr("diagnostics") = nb::tuple();
  made.attr("code") = "";
  made.attr("exit_code") = 1;
  m.attr(name) = made;
  return made.ptr();
}

// The texts of findings are for people: names from files in them are escaped, as in every message.
void bind_diag(nb::module_& m) {
  m.def(
      "printable", [](const std::string& text) { return printable_text(text); }, nb::arg("text"));
  nb::class_<Diag>(m, "Diagnostic")
      .def(
          "__init__",
          [](Diag* d, const std::string& severity, const std::string& code, const std::string& what,
             const std::string& because, const std::string& hint) {
            new (d) Diag{severity == "error"     ? Severity::error
                         : severity == "warning" ? Severity::warning
                                                 : Severity::note,
                         code,
                         what,
                         because,
                         hint,
                         {},
                         {}};
          },
          nb::arg("severity"), nb::arg("code"), nb::arg("what"), nb::arg("because") = "", nb::arg("hint") = "")
      .def_prop_ro("severity", &severity)
      .def_prop_ro("code", [](const Diag& d) { return printable_text(d.code); })
      .def_prop_ro("what", [](const Diag& d) { return printable_text(d.what); })
      .def_prop_ro("because", [](const Diag& d) { return printable_text(d.because); })
      .def_prop_ro("hint", [](const Diag& d) { return printable_text(d.hint); })
      .def_prop_ro("where", [](const Diag& d) { return place(d.where); })
      .def_prop_ro("notes", &notes)
      .def("json", &Diag::render_json)
      .def("__str__", &Diag::render)
      .def("__repr__", [](const Diag& d) {
        return printable_text("<" + std::string(severity(d)) + " " + d.code + ": " + d.what + ">");
      });
  error_type = exception_type(m, "Error", "What Cameo says about a model or a call; `diagnostics` holds every finding.",
                              PyExc_Exception);
  bug_type = exception_type(m, "Bug", "A mistake in Cameo itself, never in the model or the call: please report it.",
                            PyExc_RuntimeError);
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const Error& e) {
      if (PyErr_Occurred()) return;  // what stopped the call: KeyboardInterrupt
      // What was found in a file that is no longer whole is not a finding about it.
      try {
        require_whole_files();
        raise(e, error_type);
      } catch (const Error& changed) {
        raise(changed, error_type);
      }
    } catch (const nb::cast_error&) {
      raise(failure("use.value", "a value is out of range, or of another type than this call takes"), error_type);
    } catch (const std::logic_error&) {  // not an Error: a Bug, or an exception that nanobind knows
      const Error e = caught();
      if (!e.diag().code.starts_with("bug.") || e.diag().code == "bug.exception") throw;
      raise(e, bug_type);
    }
  });
}

bool keyboard_interrupt() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

void throw_what_stopped() {
  if (PyErr_Occurred()) throw nb::python_error();
}

namespace {
template <class T>
T as(nb::handle v, const char* key, const char* wanted) {
  T out;
  if (nb::try_cast(v, out)) return out;
  throw failure("use.option", std::string(key) + " is " + wanted + ", not " + nb::repr(v).c_str());
}
}  // namespace

bool Options::flag(const char* key, bool fallback) {
  nb::object v = object(key);
  return v.is_none() ? fallback : nb::cast<bool>(nb::bool_(v));
}
int64_t Options::integer(const char* key, int64_t fallback) {
  nb::object v = object(key);
  return v.is_none() ? fallback : as<int64_t>(v, key, "a whole number");
}
std::optional<double> Options::number(const char* key) {
  nb::object v = object(key);
  return v.is_none() ? std::nullopt : std::optional(as<double>(v, key, "a number"));
}
std::string Options::text(const char* key, const char* fallback) {
  nb::object v = object(key);
  return v.is_none() ? fallback : as<std::string>(v, key, "a word");
}
std::vector<std::string> Options::texts(const char* key) {
  nb::object v = object(key);
  std::vector<std::string> out;
  if (nb::isinstance<nb::str>(v)) throw failure("use.option", std::string(key) + " is a list of words, not one word");
  if (!v.is_none())
    for (nb::handle item : v) out.push_back(as<std::string>(item, key, "a list of words"));
  return out;
}
nb::object Options::object(const char* key) {
  nb::object name = nb::str(key);
  if (!given_.contains(name)) return nb::none();
  nb::object v = given_[name];
  PyDict_DelItem(given_.ptr(), name.ptr());
  return v;
}
void Options::finish() {
  for (auto [key, value] : given_) throw failure("use.option", "unknown option '" + nb::cast<std::string>(key) + "'");
}

}  // namespace cameo::python
