#include "support/text.h"

namespace cameo {

uint32_t next_character(std::string_view s, size_t& pos) {
  const auto lead = static_cast<unsigned char>(s[pos++]);
  if (lead < 0x80) return lead;
  const size_t more = lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0;
  if (more == 0 || more > s.size() - pos) return not_a_character;
  uint32_t c = lead & (0x3fu >> more);
  for (size_t k = 0; k < more; ++k) {
    const auto b = static_cast<unsigned char>(s[pos + k]);
    if ((b & 0xc0) != 0x80) return not_a_character;
    c = c << 6 | (b & 0x3fu);
  }
  static constexpr uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  if (c < least[more] || !is_character(c)) return not_a_character;
  pos += more;
  return c;
}

bool is_utf8(std::string_view s) {
  for (size_t pos = 0; pos < s.size();)
    if (next_character(s, pos) == not_a_character) return false;
  return true;
}

void append_utf8(std::string& out, uint32_t c) {
  const auto byte = [&](uint32_t b) { out += static_cast<char>(b); };
  const auto tail = [&](unsigned shift) { byte(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) byte(0xc0 | c >> 6);
  else if (c < 0x10000) byte(0xe0 | c >> 12), tail(6);
  else byte(0xf0 | c >> 18), tail(12), tail(6);
  tail(0);
}

namespace {
void append_escaped(std::string& out, unsigned char c) {
  static constexpr char hex[] = "0123456789abcdef";
  switch (c) {
    case '"': out += "\\\""; break;
    case '\\': out += "\\\\"; break;
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '\r': out += "\\r"; break;
    default: ((out += "\\u00") += hex[c >> 4]) += hex[c & 15];
  }
}
}  // namespace

void append_json_string(std::string& out, std::string_view s) {
  out += '"';
  for (size_t pos = 0; pos < s.size();) {
    const size_t start = pos;
    const uint32_t c = next_character(s, pos);
    if (c == not_a_character) out += "\xef\xbf\xbd";
    else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) append_escaped(out, static_cast<unsigned char>(c));
    else out.append(s, start, pos - start);
  }
  out += '"';
}

}  // namespace cameo
