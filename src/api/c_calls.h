// What the files behind include/cameo/c.h share.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/error.h"
#include "support/progress.h"

#include "cameo/c.h"
#include "cameo/cameo.h"

struct cameo_model {
  cameo::Model model;
};
struct cameo_session {
  cameo::Session session;
};
struct cameo_results {
  std::vector<cameo::Array> arrays;
  std::vector<std::string> names;
};

namespace cameo::faces {

using support::cat;
using support::error;

void no_failure();
cameo_status failed(const Error& e);   // keeps its findings for cameo_last_findings
char* text_of(std::string_view text);  // for cameo_release_text
std::vector<Kernel> kernels_of(const cameo_kernel* list, size_t count);
Progress watched();  // of this thread, as cameo_watch set it

template <class F>
cameo_status guarded(F call) noexcept {
  try {
    no_failure();
    const Progress progress = watched();
    const support::ProgressScope told(progress);
    call();
    return CAMEO_OK;
  } catch (...) {
    return failed(caught());
  }
}

// Handles that were given out and are not released yet, each with its kind.
void remember(const void* handle, const char* kind);
bool is_there(const void* handle, const char* kind);
bool forget(const void* handle, const char* kind);  // false: it is not there
Error not_there(std::string_view what);

// What a handle is called in findings, and told from others by; null for what is no handle.
template <class T>
inline constexpr const char* kind_of = nullptr;
template <>
inline constexpr const char* kind_of<cameo_model> = "the model";
template <>
inline constexpr const char* kind_of<cameo_session> = "the session";
template <>
inline constexpr const char* kind_of<cameo_results> = "the results";
template <>
inline constexpr const char* kind_of<cameo_view> = "the view";
template <>
inline constexpr const char* kind_of<cameo_desk> = "the desk";
template <>
inline constexpr const char* kind_of<cameo_blobs> = "the blobs";
template <>
inline constexpr const char* kind_of<char> = "the text";  // what text_of made

template <class T>
T* given_out(T* handle) {
  remember(handle, kind_of<T>);
  return handle;
}

// Null is allowed. A handle that is not there is not touched, with a finding; findings of an earlier call stay
// otherwise.
template <class T>
void release(T* handle) noexcept {
  if (!handle) return;
  if (!forget(handle, kind_of<T>)) failed(not_there(kind_of<T>));
  else if constexpr (std::is_same_v<T, char>) delete[] handle;
  else delete handle;
}

template <class T>
const T& need(const T* given, std::string_view what) {
  if (!given) throw error("use.null", cat(what, " is a null pointer"));
  if constexpr (kind_of<T> != nullptr && !std::is_same_v<T, char>)
    if (!is_there(given, kind_of<T>)) throw not_there(what);
  return *given;
}
template <class T>
T& place(T* out) {
  if (!out) throw error("use.null", "the pointer for the result is null");
  *out = {};
  return *out;
}
inline std::string_view settings(const char* json) { return json ? json : ""; }

// The text that `call` makes; *out is null before it is called, and stays so where it throws.
template <class F>
cameo_status give_text(char** out, F call) noexcept {
  return guarded([&] {
    char*& target = place(out);
    target = text_of(call());
  });
}
template <class F>
cameo_status make(cameo_model** out, F call) noexcept {
  return guarded([&] {
    cameo_model*& target = place(out);
    target = given_out(new cameo_model{call()});
  });
}
template <class R>
struct Reported {
  Model model;
  R report;
};
// What `call` gives has a model, and is told as JSON as a whole or by its report.
template <class F>
cameo_status make_reported(cameo_model** out, char** report, F call) noexcept {
  return guarded([&] {
    if (report) *report = nullptr;
    cameo_model*& target = place(out);
    auto made = call();
    std::string told;
    if constexpr (requires { made.report; }) told = report ? to_json(made.report) : "";
    else told = report ? to_json(made) : "";
    target = given_out(new cameo_model{std::move(made.model)});
    if (report) *report = text_of(told);
  });
}

}  // namespace cameo::faces
