// What the files behind include/cameo/c.h share.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

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

template <class F>
cameo_status guarded(F call) noexcept {
  try {
    no_failure();
    call();
    return CAMEO_OK;
  } catch (...) {
    return failed(caught());
  }
}

template <class T>
const T& need(const T* given, std::string_view what) {
  if (!given) throw error("use.null", cat(what, " is a null pointer"));
  return *given;
}
template <class T>
T& place(T* out) {
  if (!out) throw error("use.null", "the pointer for the result is null");
  *out = {};
  return *out;
}
inline std::string_view settings(const char* json) { return json ? json : ""; }

}  // namespace cameo::faces
