// Moving about in a document that was checked.
#include <charconv>
#include <cstring>

#include "formats/json_table.h"
#include "support/text.h"

namespace cameo::json {

uint32_t skip_spaces(std::string_view s, uint32_t at) {
  while (at < s.size() && (s[at] == ' ' || s[at] == '\n' || s[at] == '\t' || s[at] == '\r')) ++at;
  return at;
}

uint32_t after_string(std::string_view s, uint32_t at) {
  const char* const begin = s.data() + at;
  for (const char* p = begin + 1;; ++p) {
    p = static_cast<const char*>(std::memchr(p, '"', static_cast<size_t>(s.data() + s.size() - p)));
    const char* slash = p;
    while (slash[-1] == '\\') --slash;  // stops at the opening quote at the latest
    if ((p - slash) % 2 == 0) return static_cast<uint32_t>(p - s.data() + 1);
  }
}

uint32_t after_value(std::string_view s, uint32_t at) {
  uint32_t depth = 0;
  do {
    switch (s[at]) {
      case '"': at = after_string(s, at); break;
      case '{':
      case '[': ++depth, ++at; break;
      case '}':
      case ']': --depth, ++at; break;
      case ',':
      case ':':
      case ' ':
      case '\n':
      case '\t':
      case '\r': ++at; break;
      default:  // a word or number
        while (at < s.size() && s[at] != ',' && s[at] != '}' && s[at] != ']' && s[at] != ' ' && s[at] != '\n' &&
               s[at] != '\t' && s[at] != '\r')
          ++at;
    }
  } while (depth > 0);
  return at;
}

uint32_t value_of_key(std::string_view s, uint32_t key) {
  return skip_spaces(s, skip_spaces(s, after_string(s, key)) + 1);
}

uint32_t first_part(std::string_view s, uint32_t container) {
  const uint32_t at = skip_spaces(s, container + 1);
  return s[at] == '}' || s[at] == ']' ? 0 : at;
}

uint32_t next_part(std::string_view s, uint32_t value) {
  const uint32_t at = skip_spaces(s, after_value(s, value));
  return s[at] == ',' ? skip_spaces(s, at + 1) : 0;
}

std::string_view raw_string(std::string_view s, uint32_t at) { return s.substr(at + 1, after_string(s, at) - at - 2); }

static uint32_t hex4(const char* p) {
  uint32_t v = 0;
  std::from_chars(p, p + 4, v, 16);
  return v;
}

std::string unescape(std::string_view raw) {
  static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(raw.size());
  for (size_t i = 0; i < raw.size();) {
    const size_t run = std::min(raw.find('\\', i), raw.size());
    out += raw.substr(i, run - i);
    if (run == raw.size()) break;
    i = run + 2;
    if (raw[run + 1] != 'u') {
      out += to[from.find(raw[run + 1])];
      continue;
    }
    uint32_t code = hex4(raw.data() + i);
    i += 4;
    if (code >= 0xd800 && code < 0xdc00) {
      code = 0x10000 + ((code - 0xd800) << 10) + (hex4(raw.data() + i + 2) - 0xdc00);
      i += 6;
    }
    append_utf8(out, code);
  }
  return out;
}

uint32_t key_hash(std::string_view key) {
  uint32_t h = 2166136261u;
  for (const char c : key) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h;
}

}  // namespace cameo::json
