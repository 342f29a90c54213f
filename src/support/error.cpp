#include "support/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "support/text.h"

namespace cameo {

std::string Loc::describe() const {
  std::string out = file;
  if (line) out += cat(":", line, ":", column ? column : 1);
  if (offset) out += cat(out.empty() ? "byte " : " at byte ", *offset);
  if (!scope.empty()) out += cat(out.empty() ? "in " : "   in ", scope);
  return out;
}

int Diag::exit_code() const {
  const std::string_view c = code;
  if (c.starts_with("use.")) return 2;
  if (c.starts_with("file.")) return 3;
  if (c.starts_with("bug.")) return 4;
  return 1;
}

// Every part is one line: no message of ours has a line break, so that one in a part came from a name.
std::string Diag::render() const {
  static constexpr std::string_view word[] = {"note", "warning", "error"};
  std::string out = cat(word[static_cast<int>(severity)], "[", printable(code), "]: ", printable(what), "\n");
  const auto part = [&](std::string_view lead, std::string_view text) {
    if (!text.empty()) out += cat(lead, printable(text), "\n");
  };
  part("  --> ", where.describe());
  part("   |  ", where.source);
  part("   = because: ", because);
  for (const auto& n : notes) {
    part("   = note: ", n.text);
    part("     --> ", n.where.describe());
  }
  part("   = hint: ", hint);
  return out;
}

namespace {
void append_member(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out += ',';
  append_json_string(out, key);
  out += ':';
  append_json_string(out, value);
}
}  // namespace

std::string Diag::render_json() const {
  static constexpr std::string_view word[] = {"note", "warning", "error"};
  std::string out = cat("{\"severity\":\"", word[static_cast<int>(severity)], "\"");
  append_member(out, "code", code);
  append_member(out, "what", what);
  append_member(out, "because", because);
  append_member(out, "hint", hint);
  append_member(out, "file", where.file);
  if (where.line) out += cat(",\"line\":", where.line, ",\"column\":", where.column);
  if (where.offset) out += cat(",\"offset\":", *where.offset);
  append_member(out, "scope", where.scope);
  append_member(out, "source", where.source);
  if (!notes.empty()) {
    out += ",\"notes\":[";
    for (size_t i = 0; i < notes.size(); ++i) {
      if (i) out += ',';
      append_json_string(out, notes[i].text);
    }
    out += ']';
  }
  return out + "}";
}

Error::Error(Diag d) : Error(std::vector<Diag>{std::move(d)}) {}

Error::Error(std::vector<Diag> all) : diags_(std::move(all)) {
  text_ = printable(cat("[", diags_.front().code, "] ", diags_.front().what));
  if (diags_.size() > 1) text_ += cat(" (and ", diags_.size() - 1, " more)");
}

Error&& Error::at(Loc where) && {
  diags_.front().where = std::move(where);
  return std::move(*this);
}
Error&& Error::why(std::string because) && {
  diags_.front().because = std::move(because);
  return std::move(*this);
}
Error&& Error::help(std::string hint) && {
  diags_.front().hint = std::move(hint);
  return std::move(*this);
}
Error&& Error::note(std::string text, Loc where) && {
  diags_.front().notes.push_back({std::move(text), std::move(where)});
  return std::move(*this);
}

int Error::exit_code() const {
  int code = 0;
  for (const auto& d : diags_)
    if (d.severity == Severity::error) code = std::max(code, d.exit_code());
  return code ? code : 1;
}

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

void invariant_failed(std::string_view what, std::string_view path, uint32_t line) {
  const auto slash = path.rfind("src/");
  throw error("bug.invariant", cat("this is a bug in Cameo: ", what))
      .at({.file = std::string(slash == path.npos ? path : path.substr(slash)), .line = line})
      .help("please report it with the command line and, if possible, the model");
}

void narrow_failed(long long value) { throw error("value.range", cat("the number ", value, " is out of range here")); }

}  // namespace cameo
