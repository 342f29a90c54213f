// Tokens of TorchScript's printed language, made one at a time. Parsers only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cameo/diag.h"
#include "support/layers.h"

namespace cameo::torchscript {

enum class Tok : uint8_t {
  end,
  newline,
  identifier,
  keyword,
  integer,
  floating,
  imaginary,
  string,
  open_paren,
  close_paren,
  open_bracket,
  close_bracket,
  open_brace,
  close_brace,
  colon,
  comma,
  equals,
  dot,
  arrow,
  plus,
  minus,
};

enum class Word : uint8_t {
  none,
  kw_class,
  kw_def,
  kw_return,
  kw_if,
  kw_else,
  kw_while,
  kw_for,
  kw_in,
  kw_with,
  kw_as,
  kw_pass,
  kw_none,
  kw_true,
  kw_false,
  kw_import,
};

struct Token {
  Tok kind = Tok::end;
  Word word = Word::none;  // of keywords
  bool escapes = false;    // string: has backslashes
  uint32_t indent = 0;     // newline: spaces before the next line's first token
  uint32_t offset = 0;     // in the text
  std::string_view text;   // string: without quotes
};

class Lexer {
 public:
  // `text` must be shorter than 4 GiB; `path` is for messages.
  Lexer(std::string_view text, std::string_view path) : text_(text), path_(path) {}

  Token next();
  // Skips to the line's end: for lines that are not ours to understand.
  void skip_line();
  [[noreturn]] void fail(uint32_t offset, std::string what, std::string hint = {}) const;

 private:
  Token make(Tok kind, uint32_t start) const {
    return {kind, Word::none, false, 0, start, text_.substr(start, at_ - start)};
  }
  Token newline();
  Token number();
  Token string();
  Token word();
  bool digit_at(uint32_t i) const { return i < text_.size() && text_[i] >= '0' && text_[i] <= '9'; }
  void digits() {
    while (digit_at(at_)) ++at_;
  }
  void skip_blanks();

  std::string_view text_, path_;
  uint32_t at_ = 0;
  int32_t nesting_ = 0;  // of brackets: newlines inside do not count
  bool line_ended_ = true;
};

// `text` holds backslash escapes; `out` gets the bytes meant. Returns false on a malformed escape.
bool unescape(std::string_view text, std::string& out);

// Correctly rounded, whatever the locale. `text` has the form digits[.digits][e[+-]digits].
double parse_double(std::string_view text);

// Line, column and the line itself of a place in a text.
Loc place_in(std::string_view text, uint32_t offset, std::string file);

}  // namespace cameo::torchscript
