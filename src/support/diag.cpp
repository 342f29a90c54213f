// include/cameo/diag.h.
#include <algorithm>

#include "support/error.h"
#include "support/text.h"

namespace cameo {

using namespace support;

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

}  // namespace cameo
