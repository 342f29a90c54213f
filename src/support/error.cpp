#include "support/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/text.h"

namespace cameo::support {

Error error(std::string_view code, std::string what) {
  Diag d;
  d.code = code;
  d.what = std::move(what);
  return Error(std::move(d));
}

namespace {
Diag make(Severity s, std::string_view code, std::string what, Loc where) {
  Diag d;
  d.severity = s;
  d.code = code;
  d.what = std::move(what);
  d.where = std::move(where);
  return d;
}
}  // namespace

Diag& DiagSink::warn(std::string_view code, std::string what, Loc where) {
  return add(make(Severity::warning, code, std::move(what), std::move(where)));
}
Diag& DiagSink::note(std::string_view code, std::string what, Loc where) {
  return add(make(Severity::note, code, std::move(what), std::move(where)));
}
Diag& DiagSink::err(std::string_view code, std::string what, Loc where) {
  return add(make(Severity::error, code, std::move(what), std::move(where)));
}

bool DiagSink::has_errors() const {
  for (const auto& d : all_)
    if (d.severity == Severity::error) return true;
  return false;
}

namespace detail {
void append(std::string& out, std::string_view s) { out += s; }
void append(std::string& out, char c) { out += c; }
template <class T>
static void append_number(std::string& out, T v) {
  char buffer[40];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
}
void append(std::string& out, long long v) { append_number(out, v); }
void append(std::string& out, unsigned long long v) { append_number(out, v); }
#ifdef __cpp_lib_to_chars
void append(std::string& out, double v) { append_number(out, v); }
#else
// As std::to_chars writes it: the fewest digits that read back the same, in the shorter of the two notations.
void append(std::string& out, double v) {
  if (!std::isfinite(v)) {
    out += std::isnan(v) ? (std::signbit(v) ? "-nan" : "nan") : v < 0 ? "-inf" : "inf";
    return;
  }
  char scientific[40], fixed[400];
  int digits = 0;
  do std::snprintf(scientific, sizeof scientific, "%.*e", digits, v);
  while (std::strtod(scientific, nullptr) != v && ++digits < 17);
  const int exponent = std::atoi(std::strchr(scientific, 'e') + 1);
  std::snprintf(fixed, sizeof fixed, "%.*f", std::max(0, digits - exponent), v);
  out += std::strlen(fixed) <= std::strlen(scientific) ? fixed : scientific;
}
#endif
}  // namespace detail

Bug::Bug(std::string_view code, std::string_view what, Loc where)
    : std::logic_error(printable(cat("this is a bug in Cameo: ", what))) {
  diag_.code = code;
  diag_.what = cat("this is a bug in Cameo: ", what);
  diag_.where = std::move(where);
  diag_.hint = "please report it with the command line and, if possible, the model";
}

void invariant_failed(std::string_view what, std::string_view path, uint32_t line) {
  const auto slash = path.rfind("src/");
  throw Bug("bug.invariant", what, {.file = std::string(slash == path.npos ? path : path.substr(slash)), .line = line});
}

void narrow_failed(long long value) { throw error("value.range", cat("the number ", value, " is out of range here")); }

}  // namespace cameo::support
