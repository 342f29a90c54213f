#include "frontends/torchscript/lexer.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "support/error.h"

namespace cameo::torchscript {

namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return starts_name(c) || is_digit(c); }

Word keyword(std::string_view s) {
  static constexpr std::pair<std::string_view, Word> words[] = {
      {"class", Word::kw_class}, {"def", Word::kw_def},     {"return", Word::kw_return}, {"if", Word::kw_if},
      {"else", Word::kw_else},   {"while", Word::kw_while}, {"for", Word::kw_for},       {"in", Word::kw_in},
      {"with", Word::kw_with},   {"as", Word::kw_as},       {"pass", Word::kw_pass},     {"None", Word::kw_none},
      {"True", Word::kw_true},   {"False", Word::kw_false}, {"import", Word::kw_import},
  };
  if (s.size() < 2 || s.size() > 6 || std::string_view("FNTacdefiprw").find(s[0]) == s.npos) return Word::none;
  for (const auto& [text, word] : words)
    if (text == s) return word;
  return Word::none;
}
}  // namespace

Loc place_in(std::string_view text, uint32_t offset, std::string file) {
  const size_t at = std::min<size_t>(offset, text.size());
  const auto before = text.substr(0, at);
  const auto last = before.rfind('\n');
  const size_t start = last == before.npos ? 0 : last + 1;
  auto line = text.substr(start, text.find('\n', at) - start);
  if (line.size() > 200) line = line.substr(0, 200);
  Loc loc;
  loc.file = std::move(file);
  loc.line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  loc.column = static_cast<uint32_t>(at - start + 1);
  loc.source = std::string(line);
  return loc;
}

void Lexer::fail(uint32_t offset, std::string what, std::string hint) const {
  throw error("file.script-syntax", std::move(what))
      .at(place_in(text_, offset, std::string(path_)))
      .help(std::move(hint));
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || (c == '\n' && nesting_ > 0)) ++at_;
    else if (c == '#') at_ = static_cast<uint32_t>(std::min(text_.find('\n', at_), text_.size()));
    else return;
  }
}

// Called at a line's end: passes blank lines and measures the next line's indentation.
Token Lexer::newline() {
  Token t = make(Tok::newline, at_);
  line_ended_ = true;
  while (at_ < text_.size() && text_[at_] == '\n') {
    const uint32_t start = ++at_;
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    t.indent = at_ - start;
    skip_blanks();
  }
  if (at_ >= text_.size()) t.indent = 0;
  return t;
}

Token Lexer::next() {
  skip_blanks();
  if (at_ >= text_.size()) {
    if (line_ended_) return make(Tok::end, at_);
    return newline();
  }
  const char c = text_[at_];
  if (c == '\n') {
    Token t = newline();
    return t;
  }
  line_ended_ = false;
  if (starts_name(c)) return word();
  if (is_digit(c)) return number();
  const uint32_t start = at_++;
  switch (c) {
    case '"': at_ = start; return string();
    case '(': ++nesting_; return make(Tok::open_paren, start);
    case '[': ++nesting_; return make(Tok::open_bracket, start);
    case '{': ++nesting_; return make(Tok::open_brace, start);
    case ')': --nesting_; return make(Tok::close_paren, start);
    case ']': --nesting_; return make(Tok::close_bracket, start);
    case '}': --nesting_; return make(Tok::close_brace, start);
    case ':': return make(Tok::colon, start);
    case ',': return make(Tok::comma, start);
    case '=': return make(Tok::equals, start);
    case '.': return make(Tok::dot, start);
    case '+': return make(Tok::plus, start);
    case '-':
      if (at_ < text_.size() && text_[at_] == '>') {
        ++at_;
        return make(Tok::arrow, start);
      }
      return make(Tok::minus, start);
    default:
      fail(start, cat("a character that TorchScript's printed code does not have (byte ",
                      static_cast<int>(static_cast<unsigned char>(c)), ")"));
  }
}

void Lexer::skip_line() {
  at_ = static_cast<uint32_t>(std::min(text_.find('\n', at_), text_.size()));
  nesting_ = 0;
}

Token Lexer::word() {
  const uint32_t start = at_;
  while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
  Token t = make(Tok::identifier, start);
  t.word = keyword(t.text);
  if (t.word != Word::none) t.kind = Tok::keyword;
  return t;
}

Token Lexer::number() {
  const uint32_t start = at_;
  Tok kind = Tok::integer;
  digits();
  if (at_ < text_.size() && text_[at_] == '.') {
    kind = Tok::floating;
    ++at_;
    digits();
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    const bool sign = at_ + 1 < text_.size() && (text_[at_ + 1] == '+' || text_[at_ + 1] == '-');
    if (digit_at(at_ + 1 + sign)) {
      kind = Tok::floating;
      at_ += 1 + sign;
      digits();
    }
  }
  Token t = make(kind, start);
  if (at_ < text_.size() && text_[at_] == 'j') {
    ++at_;
    t.kind = Tok::imaginary;
  }
  if (at_ < text_.size() && continues_name(text_[at_])) fail(at_, "a number runs into a name");
  return t;
}

Token Lexer::string() {
  const uint32_t start = at_;
  bool escapes = false;
  for (++at_;; ++at_) {
    if (at_ >= text_.size() || text_[at_] == '\n') fail(start, "a string without its closing quote");
    if (text_[at_] == '"') break;
    if (text_[at_] == '\\') {
      escapes = true;
      if (++at_ >= text_.size()) fail(start, "a string without its closing quote");
    }
  }
  Token t = make(Tok::string, start + 1);
  t.escapes = escapes;
  ++at_;
  return t;
}

bool unescape(std::string_view text, std::string& out) {
  static constexpr std::string_view letters = "\\'\"abfnrtv", meant = "\\'\"\a\b\f\n\r\t\v";
  out.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i >= text.size()) return false;
    if (const auto at = letters.find(text[i]); at != letters.npos) {
      out += meant[at];
      continue;
    }
    int value = 0, count = 0;
    for (; count < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++i, ++count)
      value = value * 8 + (text[i] - '0');
    if (count == 0 || value > 255) return false;
    --i;
    out += static_cast<char>(value);
  }
  return true;
}

double parse_double(std::string_view text) {
#if defined(__cpp_lib_to_chars)
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc::result_out_of_range) return value;
  return text.find("e-") == text.npos ? std::numeric_limits<double>::infinity() : 0.0;
#else
  return std::strtod(std::string(text).c_str(), nullptr);  // WASM's C library knows only the "C" locale
#endif
}

}  // namespace cameo::torchscript
