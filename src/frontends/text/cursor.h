// A place in a text, and the tokens of ONNX's text syntax from there on. Blanks and comments (# to the end of the line)
// are skipped before every token. What does not fit throws "file.syntax" with line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cameo/diag.h"
#include "support/layers.h"

namespace cameo::text {

bool is_identifier(std::string_view s);  // letters, digits and '_', no digit first

struct Literal {
  enum class Kind : uint8_t { integer, floating, string };
  Kind kind = Kind::integer;
  std::string text;  // a string without quotes and escapes, a number as it stands
};

class Cursor {
 public:
  Cursor(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  char peek();  // the next character that counts; 0 at the end
  bool at_end() { return peek() == 0 && at_ >= text_.size(); }
  bool accept(char c);
  void expect(char c, std::string_view after);  // `after` ends the message: "expected ')' after the inputs"
  bool accept_equals();                         // '=', but not the beginning of '=>'
  void expect_arrow();

  std::string_view identifier();  // empty when there is none
  std::string_view peek_identifier();
  std::string name(std::string_view what);     // an identifier or a quoted string; `what` is wanted
  std::optional<std::string> optional_name();  // the same where there may be none
  std::string string(std::string_view what);
  int64_t integer(std::string_view what);
  bool sees_number();  // digits, a sign, inf, nan
  Literal literal();   // a number or a string
  // Everything up to one of the characters of `end` outside parentheses and 'quotes', which stays. For sizes.
  std::string_view until(std::string_view end);
  bool sees_notes() const;  // "[doc_string" or "[metadata_props", here
  // "#" and sixteen hex digits, right here: after any other token it would be a comment.
  bool sees_hash() const { return !hash_here().empty(); }
  std::string_view hash();  // without the '#'; empty when there is none

  size_t position();  // of the next token
  Loc place(size_t position) const;
  [[noreturn]] void fail(std::string what);
  [[noreturn]] void fail_at(size_t position, std::string what, std::string hint = "") const;

 private:
  void skip_blanks();
  void skip_single_quoted();  // to the closing quote
  std::string_view hash_here() const;

  std::string_view text_;
  size_t at_ = 0;
  std::string file_;
};

}  // namespace cameo::text
