#include "frontends/text/cursor.h"

#include <algorithm>
#include <charconv>

#include "support/error.h"

namespace cameo::text {

namespace {
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

// "xNN" after a backslash is a byte; every other character there is itself, as in ONNX.
std::optional<char> byte_escape(std::string_view s) {
  unsigned v = 0;
  if (s.size() < 3 || s[0] != 'x' || std::from_chars(s.data() + 1, s.data() + 3, v, 16).ptr != s.data() + 3)
    return std::nullopt;
  return static_cast<char>(v);
}
}  // namespace

bool is_identifier(std::string_view s) {
  return !s.empty() && is_letter(s[0]) &&
         std::all_of(s.begin(), s.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

void Cursor::skip_blanks() {
  while (at_ < text_.size()) {
    if (is_blank(text_[at_])) ++at_;
    else if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
    else return;
  }
}

char Cursor::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Cursor::accept(char c) {
  if (peek() != c || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

void Cursor::expect(char c, std::string_view after) {
  if (!accept(c)) fail(cat("expected '", c, "' ", after));
}

bool Cursor::accept_equals() {
  skip_blanks();
  return !text_.substr(at_).starts_with("=>") && accept('=');
}

void Cursor::expect_arrow() {
  skip_blanks();
  if (!text_.substr(at_).starts_with("=>")) fail("expected '=>' after the inputs");
  at_ += 2;
}

std::string_view Cursor::identifier() {
  skip_blanks();
  size_t end = at_;
  if (end < text_.size() && is_letter(text_[end]))
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
  const auto out = text_.substr(at_, end - at_);
  at_ = end;
  return out;
}

std::string_view Cursor::peek_identifier() {
  const auto out = identifier();
  at_ -= out.size();
  return out;
}

std::optional<std::string> Cursor::optional_name() {
  if (peek() == '"') return string("a name");
  const auto id = identifier();
  return id.empty() ? std::nullopt : std::optional(std::string(id));
}

std::string Cursor::name(std::string_view what) {
  auto out = optional_name();
  if (!out) fail(cat("expected ", what));
  return std::move(*out);
}

std::string Cursor::string(std::string_view what) {
  if (peek() != '"') fail(cat("expected ", what, " in double quotes"));
  const size_t start = at_++;
  std::string out;
  for (; at_ < text_.size(); ++at_) {
    if (text_[at_] == '"') return ++at_, out;
    const bool escaped = text_[at_] == '\\';
    if (escaped && ++at_ >= text_.size()) break;
    if (const auto byte = escaped ? byte_escape(text_.substr(at_)) : std::nullopt) out += *byte, at_ += 2;
    else out += text_[at_];
  }
  fail_at(start, "the text ends inside a string");
}

int64_t Cursor::integer(std::string_view what) {
  const size_t start = position();
  if (!sees_number()) fail(cat("expected ", what));
  const Literal l = literal();
  int64_t v = 0;
  const auto [end, code] = std::from_chars(l.text.data(), l.text.data() + l.text.size(), v);
  if (l.kind != Literal::Kind::integer || code != std::errc() || end != l.text.data() + l.text.size())
    fail_at(start, cat(l.text, " is not ", what));
  return v;
}

bool Cursor::sees_number() {
  const char c = peek();
  if (is_digit(c) || c == '-') return true;
  const auto id = peek_identifier();
  return id == "inf" || id == "nan" || id == "infinity";
}

Literal Cursor::literal() {
  if (peek() == '"') return {Literal::Kind::string, string("a string")};
  const size_t start = at_;
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  Literal out;
  if (at_ < text_.size() && is_letter(text_[at_])) {
    const auto word = identifier();
    if (word != "inf" && word != "nan" && word != "infinity")
      fail_at(start, cat("expected a number, not '", word, "'"));
    out.kind = Literal::Kind::floating;
    if (word == "nan" && at_ < text_.size() && text_[at_] == '(')
      at_ = std::min(text_.find(')', at_), text_.size() - 1) + 1;
  } else {
    const auto digits = [&] {
      const size_t from = at_;
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      return at_ > from;
    };
    if (!digits()) fail_at(start, "expected a number or a string");
    if (at_ < text_.size() && text_[at_] == '.') ++at_, digits(), out.kind = Literal::Kind::floating;
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digits()) fail_at(start, "the exponent of a number has no digits");
      out.kind = Literal::Kind::floating;
    }
  }
  out.text = text_.substr(start, at_ - start);
  return out;
}

void Cursor::skip_single_quoted() {
  for (++at_; at_ < text_.size() && text_[at_] != '\''; ++at_)
    if (text_[at_] == '\\') ++at_;
}

std::string_view Cursor::until(std::string_view end) {
  skip_blanks();
  const size_t start = at_;
  int open = 0;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (open == 0 && end.find(c) != std::string_view::npos) return text_.substr(start, at_ - start);
    if (c == '(') ++open;
    else if (c == ')') --open;
    else if (c == '\'') skip_single_quoted();
    else if (std::string_view("{}<>=\"[").find(c) != std::string_view::npos) break;
    if (at_ >= text_.size()) break;
  }
  fail_at(at_, cat("expected '", end.back(), "'"));
}

bool Cursor::sees_notes() const {
  Cursor ahead(text_, "");
  ahead.at_ = at_;
  if (!ahead.accept('[')) return false;
  const auto key = ahead.identifier();
  return key == "doc_string" || key == "metadata_props";
}

std::string_view Cursor::hash_here() const {
  size_t at = at_;
  while (at < text_.size() && is_blank(text_[at])) ++at;
  if (at >= text_.size() || text_[at] != '#') return {};
  const auto digits = text_.substr(at + 1, 16);
  if (digits.size() != 16 || !std::all_of(digits.begin(), digits.end(), is_hex)) return {};
  if (at + 17 < text_.size() && (is_letter(text_[at + 17]) || is_digit(text_[at + 17]))) return {};
  return digits;
}

std::string_view Cursor::hash() {
  const auto out = hash_here();
  if (!out.empty()) at_ = static_cast<size_t>(out.data() + out.size() - text_.data());
  return out;
}

size_t Cursor::position() {
  skip_blanks();
  return at_;
}

Loc Cursor::place(size_t position) const {
  const auto before = text_.substr(0, position);
  const size_t line_start = before.rfind('\n') + 1;  // 0 when there is none
  Loc out;
  out.file = file_;
  out.line = static_cast<uint32_t>(1 + std::count(before.begin(), before.end(), '\n'));
  out.column = static_cast<uint32_t>(position - line_start + 1);
  out.source = text_.substr(line_start, std::min<size_t>(text_.find('\n', line_start) - line_start, 200));
  return out;
}

void Cursor::fail(std::string what) { fail_at(position(), std::move(what)); }

void Cursor::fail_at(size_t position, std::string what, std::string hint) const {
  Error e = error("file.syntax", std::move(what)).at(place(std::min(position, text_.size())));
  if (position >= text_.size()) e.diag().because = "the text ends here";
  throw std::move(e).help(std::move(hint));
}

}  // namespace cameo::text
