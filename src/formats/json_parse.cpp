#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "formats/json_table.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::json {
namespace {

double parse_double(std::string_view s, bool& ok) {
#ifdef __cpp_lib_to_chars
  double v = 0;
  const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), v);
  ok = end == s.data() + s.size() && code != std::errc::invalid_argument;
  if (code != std::errc::result_out_of_range) return v;
#endif
  // Where the library has no from_chars for double, and for what from_chars does not round: to zero or infinity.
  const std::string copy(s);
  char* after = nullptr;
  const double w = std::strtod(copy.c_str(), &after);
  ok = after == copy.c_str() + copy.size();
  return w;
}

class Parser {
 public:
  Parser(Table& table, const Options& options) : t_(table), options_(options), s_(table.text.text()) {}

  void parse() {
    skip_spaces();
    value();
    skip_spaces();
    if (pos_ != s_.size()) fail("something follows the value");
    t_.nodes.push_back(stack_.back());
  }

 private:
  [[noreturn]] void fail_at(uint64_t offset, std::string what) const {
    throw error("file.damaged", cat("this is not valid JSON: ", what)).at({.file = t_.path, .offset = offset});
  }
  [[noreturn]] void fail(std::string what) const { fail_at(pos_, std::move(what)); }

  char peek() const { return pos_ < s_.size() ? s_[pos_] : '\0'; }
  void skip_spaces() {
    while (pos_ < s_.size() && (s_[pos_] == ' ' || s_[pos_] == '\n' || s_[pos_] == '\t' || s_[pos_] == '\r')) ++pos_;
  }
  bool accept(char c) {
    skip_spaces();
    if (peek() != c) return false;
    ++pos_;
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!s_.substr(pos_).starts_with(word)) return false;
    pos_ += word.size();
    return true;
  }
  Node& push(Kind kind, size_t offset) {
    Node& n = stack_.emplace_back();
    n.kind = kind;
    n.offset = offset;
    return n;
  }

  void value() {
    const size_t start = pos_;
    switch (peek()) {
      case '{': return object();
      case '[': return array();
      case '"': return string();
      case 't': case 'f': case 'n': return word();
      case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        if (!options_.python_numbers || s_.substr(start, 2) != "-I") return number();
        break;
      default: break;
    }
    if (options_.python_numbers && python_number()) return;
    fail(pos_ == s_.size() ? "it ends too early" : "a value belongs here");
  }

  bool python_number() {
    const size_t start = pos_;
    double v = 0;
    if (accept_word("NaN")) v = std::numeric_limits<double>::quiet_NaN();
    else if (accept_word("Infinity")) v = std::numeric_limits<double>::infinity();
    else if (accept_word("-Infinity")) v = -std::numeric_limits<double>::infinity();
    else return false;
    push(Kind::number, start).as.number = v;
    return true;
  }

  void word() {
    const size_t start = pos_;
    if (accept_word("null")) push(Kind::null, start);
    else if (accept_word("true")) push(Kind::boolean, start).flag = true;
    else if (accept_word("false")) push(Kind::boolean, start).flag = false;
    else fail("a value belongs here");
  }

  void digits() {
    if (peek() < '0' || peek() > '9') fail("a digit belongs here");
    while (peek() >= '0' && peek() <= '9') ++pos_;
  }

  void number() {
    const size_t start = pos_;
    bool whole = true;
    if (peek() == '-') ++pos_;
    if (peek() == '0') ++pos_;
    else digits();
    if (peek() == '.') ++pos_, whole = false, digits();
    if (peek() == 'e' || peek() == 'E') {
      ++pos_;
      whole = false;
      if (peek() == '+' || peek() == '-') ++pos_;
      digits();
    }
    const std::string_view text = s_.substr(start, pos_ - start);
    int64_t integer = 0;
    if (whole && std::from_chars(text.data(), text.data() + text.size(), integer).ec == std::errc{}) {
      push(Kind::integer, start).as.integer = integer;
      return;
    }
    bool ok = false;
    const double v = parse_double(text, ok);
    if (!ok) fail_at(start, "a number cannot be read");
    push(Kind::number, start).as.number = v;
  }

  // Moves over what stands for itself in a string; `ascii` turns false where a byte does not.
  std::string_view run(bool& ascii) {
    const size_t first = pos_;
    unsigned char all = 0;
    for (; pos_ < s_.size(); ++pos_) {
      const auto c = static_cast<unsigned char>(s_[pos_]);
      if (c == '"' || c == '\\' || c < 0x20) break;
      all |= c;
    }
    ascii = ascii && all < 0x80;
    return s_.substr(first, pos_ - first);
  }

  void string() {
    const size_t start = pos_++;
    bool ascii = true;
    std::string_view text = run(ascii);
    if (peek() == '\\') text = escaped(text, ascii);
    if (pos_ == s_.size()) fail_at(start, "a string has no end");
    if (peek() != '"') fail("a control character stands in a string");
    ++pos_;
    if (!ascii && !is_utf8(text)) fail_at(start, "a string is not UTF-8");
    Node& n = push(Kind::string, start);
    n.as.text = text.data();
    n.count = static_cast<uint32_t>(text.size());
  }

  // The rest of a string from its first escape on; `before` is what came until there.
  std::string_view escaped(std::string_view before, bool& ascii) {
    std::string& out = t_.unescaped.emplace_back(before);
    while (peek() == '\\') {
      ++pos_;
      escape(out);
      out += run(ascii);
    }
    return out;
  }

  void escape(std::string& out) {
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (const auto i = from.find(c); i != from.npos && pos_ < s_.size()) {
      ++pos_;
      out += to[i];
      return;
    }
    if (c != 'u') fail("an unknown escape stands in a string");
    uint32_t code = hex4();
    if (code >= 0xd800 && code < 0xdc00 && peek() == '\\') {
      ++pos_;
      if (peek() != 'u') fail("half a surrogate pair stands in a string");
      const uint32_t low = hex4();
      if (low < 0xdc00 || low > 0xdfff) fail("half a surrogate pair stands in a string");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (!is_character(code)) fail("half a surrogate pair stands in a string");
    append_utf8(out, code);
  }

  uint32_t hex4() {
    ++pos_;  // the u
    uint32_t v = 0;
    if (s_.size() - pos_ < 4) fail("an escape is cut off");
    const char* begin = s_.data() + pos_;
    if (std::from_chars(begin, begin + 4, v, 16).ptr != begin + 4 || *begin == '-') fail("an escape needs four hex digits");
    pos_ += 4;
    return v;
  }

  void enter() {
    if (++depth_ > options_.depth) fail("it is nested too deep");
  }

  // Children were pushed above `mark`; they move to the table, the parent takes their place.
  Node& close(Kind kind, size_t offset, size_t mark) {
    --depth_;
    const auto count = static_cast<uint32_t>(stack_.size() - mark), first = static_cast<uint32_t>(t_.nodes.size());
    t_.nodes.insert(t_.nodes.end(), stack_.begin() + static_cast<ptrdiff_t>(mark), stack_.end());
    stack_.resize(mark);
    Node& n = push(kind, offset);
    n.count = count;
    n.as.children = {first, 0};
    return n;
  }

  void array() {
    const size_t start = pos_++, mark = stack_.size();
    enter();
    if (!accept(']')) {
      do {
        skip_spaces();
        value();
      } while (accept(','));
      if (!accept(']')) fail("a list lacks its ',' or ']'");
    }
    close(Kind::array, start, mark);
  }

  void object() {
    const size_t start = pos_++, mark = stack_.size();
    enter();
    if (!accept('}')) {
      do {
        skip_spaces();
        if (peek() != '"') fail("a key belongs here");
        string();
        if (!accept(':')) fail("a ':' belongs here");
        skip_spaces();
        value();
      } while (accept(','));
      if (!accept('}')) fail("an object lacks its ',' or '}'");
    }
    index_keys(close(Kind::object, start, mark));
  }

  void index_keys(Node& object) {
    const uint32_t first = object.as.children.first, members = object.count / 2;
    const auto key = [&](uint32_t index) { return t_.nodes[index].string(); };
    const auto twin = [&](uint32_t index) { fail_at(t_.nodes[index].offset, cat("the key ", key(index), " comes twice")); };
    if (members <= Table::small_object) {
      for (uint32_t i = 1; i < members; ++i)
        for (uint32_t j = 0; j < i; ++j)
          if (key(first + 2 * i) == key(first + 2 * j)) twin(first + 2 * i);
      return;
    }
    object.as.children.sorted = static_cast<uint32_t>(t_.key_order.size());
    for (uint32_t i = 0; i < members; ++i) t_.key_order.push_back(first + 2 * i);
    const auto begin = t_.key_order.end() - static_cast<ptrdiff_t>(members), end = t_.key_order.end();
    std::sort(begin, end, [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
    const auto at = std::adjacent_find(begin, end, [&](uint32_t a, uint32_t b) { return key(a) == key(b); });
    if (at != end) twin(*at);
  }

  Table& t_;
  const Options& options_;
  std::string_view s_;
  size_t pos_ = 0;
  uint32_t depth_ = 0;
  std::vector<Node> stack_;
};
}  // namespace

void parse(Table& table, const Options& options) {
  // Node counts and string lengths are 32 bits; a value takes two bytes of text at least, but for the last.
  if (table.text.size() > std::min<uint64_t>(options.bytes, UINT32_MAX))
    throw error("file.too-large", cat("this JSON document has ", table.text.size(), " bytes")).at({.file = table.path});
  Parser(table, options).parse();
}

}  // namespace cameo::json
