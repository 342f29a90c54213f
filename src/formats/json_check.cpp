// One pass over a document that refuses everything that is not JSON. Nothing of it is kept.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <deque>

#include "formats/json_table.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::json {

double parse_double(std::string_view s) {
#ifdef __cpp_lib_to_chars
  double v = 0;
  if (std::from_chars(s.data(), s.data() + s.size(), v).ec != std::errc::result_out_of_range) return v;
#endif
  // Where the library has no from_chars for double, and for what from_chars does not round: to zero or infinity.
  return std::strtod(std::string(s).c_str(), nullptr);
}

namespace {

class Checker {
 public:
  Checker(Table& table, const Options& options) : t_(table), options_(options), s_(table.text.text()) {}

  void check() {
    skip();
    t_.root = static_cast<uint32_t>(pos_);
    value();
    skip();
    if (pos_ != s_.size()) fail("something follows the value");
  }

 private:
  [[noreturn]] void fail_at(uint64_t offset, std::string what) const {
    throw error("file.damaged", cat("this is not valid JSON: ", what)).at({.file = t_.path, .offset = offset});
  }
  [[noreturn]] void fail(std::string what) const { fail_at(pos_, std::move(what)); }

  char peek() const { return pos_ < s_.size() ? s_[pos_] : '\0'; }
  void skip() { pos_ = skip_spaces(s_, static_cast<uint32_t>(pos_)); }
  bool accept(char c) {
    skip();
    if (peek() != c) return false;
    ++pos_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!s_.substr(pos_).starts_with(word)) return false;
    pos_ += word.size();
    return true;
  }

  void value() {
    switch (peek()) {
      case '{': return object();
      case '[': return array();
      case '"': string(); return;
      case 't':
      case 'f':
      case 'n':
        if (accept_word("null") || accept_word("true") || accept_word("false")) return;
        fail("a value belongs here");
      case '-':
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7':
      case '8':
      case '9':
        if (!options_.python_numbers || s_.substr(pos_, 2) != "-I") return number();
        break;
      default: break;
    }
    if (options_.python_numbers && (accept_word("NaN") || accept_word("Infinity") || accept_word("-Infinity"))) return;
    fail(pos_ == s_.size() ? "it ends too early" : "a value belongs here");
  }

  void digits() {
    if (peek() < '0' || peek() > '9') fail("a digit belongs here");
    while (peek() >= '0' && peek() <= '9') ++pos_;
  }

  void number() {
    if (peek() == '-') ++pos_;
    if (peek() == '0') ++pos_;
    else digits();
    if (peek() == '.') ++pos_, digits();
    if (peek() == 'e' || peek() == 'E') {
      ++pos_;
      if (peek() == '+' || peek() == '-') ++pos_;
      digits();
    }
  }

  // Whether eight characters are plain: none is a quote, a backslash, a control character or beyond ASCII.
  static bool plain(const char* p) {
    uint64_t x;
    std::memcpy(&x, p, 8);
    constexpr uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
    const auto zero = [](uint64_t v) { return (v - ones) & ~v; };
    return ((zero(x ^ (ones * '"')) | zero(x ^ (ones * '\\')) | ((x - ones * 0x20) & ~x) | x) & high) == 0;
  }

  // Skips the plain characters of a string; `ascii` becomes false at a byte beyond ASCII.
  void run(bool& ascii) {
    unsigned char all = 0;
    for (; pos_ < s_.size(); ++pos_) {
      while (s_.size() - pos_ >= 8 && plain(s_.data() + pos_)) pos_ += 8;
      if (pos_ == s_.size()) break;
      const auto c = static_cast<unsigned char>(s_[pos_]);
      if (c == '"' || c == '\\' || c < 0x20) break;
      all |= c;
    }
    ascii = ascii && all < 0x80;
  }

  // True when it has escapes.
  bool string() {
    const size_t start = pos_++;
    bool ascii = true, escaped = false;
    run(ascii);
    while (peek() == '\\') {
      escaped = true;
      ++pos_;
      escape();
      run(ascii);
    }
    if (pos_ == s_.size()) fail_at(start, "a string has no end");
    if (peek() != '"') fail("a control character in a string");
    ++pos_;
    if (!ascii && !is_utf8(s_.substr(start + 1, pos_ - start - 2))) fail_at(start, "a string is not UTF-8");
    return escaped;
  }

  void escape() {
    static constexpr std::string_view simple = "\"\\/bfnrt";
    if (pos_ < s_.size() && simple.find(s_[pos_]) != simple.npos) {
      ++pos_;
      return;
    }
    if (peek() != 'u') fail("an unknown escape in a string");
    uint32_t code = hex4();
    if (code >= 0xd800 && code < 0xdc00 && peek() == '\\') {
      ++pos_;
      if (peek() != 'u') fail("half a surrogate pair in a string");
      const uint32_t low = hex4();
      if (low < 0xdc00 || low > 0xdfff) fail("half a surrogate pair in a string");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (!is_character(code)) fail("half a surrogate pair in a string");
  }

  uint32_t hex4() {
    ++pos_;  // the u
    uint32_t v = 0;
    if (s_.size() - pos_ < 4) fail("an escape is cut off");
    const char* begin = s_.data() + pos_;
    if (std::from_chars(begin, begin + 4, v, 16).ptr != begin + 4 || *begin == '-')
      fail("an escape needs four hex digits");
    pos_ += 4;
    return v;
  }

  void enter() {
    if (++depth_ > options_.depth) fail("it is nested too deep");
  }

  void array() {
    ++pos_;
    enter();
    if (!accept(']')) {
      do {
        skip();
        value();
      } while (accept(','));
      if (!accept(']')) fail("a list lacks its ',' or ']'");
    }
    --depth_;
  }

  struct Key {
    std::string_view text;
    uint64_t offset;
  };

  void object() {
    ++pos_;
    const size_t mark = keys_.size(), escaped_mark = escaped_.size();
    enter();
    if (!accept('}')) {
      do {
        skip();
        if (peek() != '"') fail("a key belongs here");
        key();
        if (!accept(':')) fail("a ':' belongs here");
        skip();
        value();
      } while (accept(','));
      if (!accept('}')) fail("an object lacks its ',' or '}'");
    }
    --depth_;
    refuse_twins(mark);
    keys_.resize(mark);
    escaped_.resize(escaped_mark);
  }

  void key() {
    const size_t start = pos_;
    const bool escaped = string();
    std::string_view text = s_.substr(start + 1, pos_ - start - 2);
    if (escaped) text = escaped_.emplace_back(unescape(text));
    keys_.push_back({text, start});
  }

  void refuse_twins(size_t mark) {
    const auto begin = keys_.begin() + static_cast<ptrdiff_t>(mark), end = keys_.end();
    const auto twin = [&](const Key& k) { fail_at(k.offset, cat("the key ", k.text, " comes twice")); };
    if (static_cast<uint64_t>(end - begin) <= Table::few_members) {
      for (auto i = begin; i < end; ++i)
        for (auto j = begin; j < i; ++j)
          if (i->text == j->text) twin(*i);
      return;
    }
    std::sort(begin, end,
              [](const Key& a, const Key& b) { return a.text != b.text ? a.text < b.text : a.offset < b.offset; });
    const auto at = std::adjacent_find(begin, end, [](const Key& a, const Key& b) { return a.text == b.text; });
    if (at != end) twin(at[1]);
  }

  Table& t_;
  const Options& options_;
  std::string_view s_;
  size_t pos_ = 0;
  uint32_t depth_ = 0;
  std::vector<Key> keys_;  // of the objects that are open
  std::deque<std::string> escaped_;
};
}  // namespace

void check(Table& table, const Options& options) {
  if (table.text.size() > std::min<uint64_t>(options.bytes, UINT32_MAX - 16))  // offsets are 32 bits
    throw error("file.too-large", cat("this JSON document has ", table.text.size(), " bytes")).at({.file = table.path});
  Checker(table, options).check();
}

}  // namespace cameo::json
