// What the files of the Python module share. They translate arguments, call include/cameo, and translate results.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "cameo/array.h"
#include "cameo/diag.h"
#include "cameo/progress.h"

namespace cameo::python {

namespace nb = nanobind;

// Python's lock given away for a long call, which stops with KeyboardInterrupt where Python has one to raise.
bool keyboard_interrupt();
struct Released {
  nb::gil_scoped_release gil;
  StopScope stop{keyboard_interrupt};
};
void throw_what_stopped();  // where Python has an exception set
template <class F>
auto released(F work) {
  const auto without_lock = [&] {
    const Released scope;
    return work();
  };
  if constexpr (std::is_void_v<decltype(work())>) {
    without_lock();
    throw_what_stopped();
  } else {
    auto result = without_lock();
    throw_what_stopped();  // although something took it for a finding
    return result;
  }
}

// A finding of the Python side.
Error failure(std::string code, std::string what, std::string hint = "");

// Keeps a Python object until its last user is gone, who may be on any thread.
std::shared_ptr<const void> keep(nb::object o);
// The bytes behind an object with the buffer protocol, which stays alive with them; nothing is copied.
Buffer buffer_of(nb::handle object);

// Arrays: NumPy's and everything with __dlpack__ come in without a copy where they are dense and on the CPU; lists of
// strings are string tensors, None is nothing. `wanted`: the element type of what has none of its own, such as a list
// of numbers; empty: NumPy's choice. Throws run.dtype.
RunValue to_value(nb::handle array, std::string_view wanted = "");
SharedArray to_array(nb::handle array, std::string_view wanted = "");
// NumPy arrays that share the memory, and must not be written: it may be a mapped file.
nb::object to_python(const SharedArray& a);
nb::object to_python(const RunValue& v);
// Of a run: arrays that their caller may write. What a model gives may be a weight of it, or what it was given: a copy.
nb::object result_to_python(const RunValue& v);

// A name from a file, which may be any bytes: those that are not UTF-8 become \xNN. Whoever shows it escapes the rest.
inline nb::str name_text(std::string_view s) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(s.data(), static_cast<Py_ssize_t>(s.size()), "backslashreplace"));
}
nb::list name_list(const std::vector<std::string>& names);
// (key, value) of each entry, as they are now: code that conversions call may change the dict.
inline nb::list entries(nb::handle dict) { return nb::cast<nb::dict>(dict).items(); }
std::vector<std::string> text_list(nb::handle items);  // str() of each
std::vector<int64_t> int_list(nb::handle items);
std::map<std::string, int64_t> sizes_of(nb::handle dict);  // {"batch": 2}; of None: none

nb::list diag_list(const std::vector<Diag>& diags);
nb::object size_list(const std::optional<std::vector<std::string>>& sizes);  // [int | str | None, ...] | None

// Reads options from a dict by name; an option that was not read at the end is an error of the caller.
class Options {
 public:
  explicit Options(nb::dict given) : given_(std::move(given)) {}
  bool flag(const char* key, bool fallback = false);
  int64_t integer(const char* key, int64_t fallback);
  std::optional<double> number(const char* key);
  std::string text(const char* key, const char* fallback = "");
  std::vector<std::string> texts(const char* key);
  // The first of the words where it is not given. Throws use.value for another word.
  template <class E, size_t N>
  E choice(const char* key, const std::array<std::pair<const char*, E>, N>& words) {
    const std::string given = text(key, words[0].first);
    std::string all;
    for (const auto& [word, value] : words) {
      if (given == word) return value;
      if (*word) all += (all.empty() ? "" : ", ") + std::string(word);
    }
    throw failure("use.value", std::string(key) + " is one of " + all + ", not '" + given + "'");
  }
  nb::object object(const char* key);  // None where it is not given
  void finish();                       // throws use.option

 private:
  nb::dict given_;
};

// function(what, done, all), where False stops the call; None: nothing is called.
Progress progress_of(nb::object function);

void bind_diag(nb::module_& m);
void bind_limits(nb::module_& m);
void bind_model(nb::module_& m);
void bind_verbs(nb::module_& m);
void bind_quantize(nb::module_& m);
void bind_lint(nb::module_& m);
void bind_prepare(nb::module_& m);
void bind_export(nb::module_& m);
void bind_lowering(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_session(nb::module_& m);
void bind_view(nb::module_& m);

}  // namespace cameo::python
