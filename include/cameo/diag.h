// Findings about a model: one type for all of them, from the byte reader to the command.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cameo {

enum class Severity : uint8_t { note, warning, error };

// Where a finding is. Every part is optional; `describe` joins those that are there.
struct Loc {
  std::string file;                // "net.pt!code/__torch__/encoder.py", "net.onnx"
  uint32_t line = 0, column = 0;   // 1-based; 0 is unknown
  std::string scope;               // module path or node name: "encoder.blocks.2.attn"
  std::string source;              // the line of text itself, when it is at hand
  std::optional<uint64_t> offset;  // byte offset in `file`

  bool empty() const { return file.empty() && scope.empty() && source.empty() && !offset && !line; }
  std::string describe() const;
  friend bool operator==(const Loc&, const Loc&) = default;
};

struct Note {
  std::string text;
  Loc where;
};

// `code` is dotted and stable: its first word decides the exit code ("use" 2, "file" 3, "bug" 4, all others 1).
struct Diag {
  Severity severity = Severity::error;
  std::string code;
  std::string what, because, hint;
  Loc where;
  std::vector<Note> notes;

  int exit_code() const;
  std::string render() const;       // as a person reads it, several lines, no colour
  std::string render_json() const;  // one JSON object on one line
};

// What is thrown about models and calls; `diags` holds at least one error. A std::logic_error is a bug of ours.
class Error : public std::exception {
 public:
  explicit Error(Diag d);
  explicit Error(std::vector<Diag> all);

  Error&& at(Loc where) &&;
  Error&& why(std::string because) &&;
  Error&& help(std::string hint) &&;
  Error&& note(std::string text, Loc where = {}) &&;

  const Diag& diag() const { return diags_.front(); }
  Diag& diag() { return diags_.front(); }
  const std::vector<Diag>& diags() const { return diags_; }
  int exit_code() const;
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Diag> diags_;
  std::string text_;
};

}  // namespace cameo
