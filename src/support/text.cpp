#include "support/text.h"

namespace cameo::support {

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

bool is_printable(uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return false;  // C0, DEL, C1
  if (c < 0x61c) return true;
  const bool direction =
      c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  return !direction && c != 0x2028 && c != 0x2029 && c != not_a_character;
}

namespace {
constexpr char hex[] = "0123456789abcdef";

// The letter that stands for the character after a backslash; 0 where there is none.
char escape_letter(uint32_t c) { return c == '\n' ? 'n' : c == '\t' ? 't' : c == '\r' ? 'r' : '\0'; }

// The characters of `s` in turn: runs that stand for themselves, and what is to be escaped.
template <class IsPlain, class Escape>
void append_escaping(std::string& out, std::string_view s, IsPlain is_plain, Escape escape) {
  size_t run = 0;
  for (size_t pos = 0; pos < s.size();) {
    const size_t start = pos;
    const uint32_t c = next_character(s, pos);
    if (is_plain(c)) continue;
    out.append(s, run, start - run);
    escape(c, s.substr(start, pos - start));
    run = pos;
  }
  out.append(s, run);
}

std::string escaped(std::string_view s, bool keep_lines) {
  std::string out;
  const auto is_plain = [&](uint32_t c) { return is_printable(c) || (keep_lines && (c == '\n' || c == '\t')); };
  append_escaping(out, s, is_plain, [&](uint32_t c, std::string_view bytes) {
    if (const char letter = escape_letter(c)) (out += '\\') += letter;
    else append_byte_escapes(out, bytes);
  });
  return out;
}
}  // namespace

void append_byte_escapes(std::string& out, std::string_view bytes) {
  for (const char b : bytes) {
    const auto c = static_cast<unsigned char>(b);
    ((out += "\\x") += hex[c >> 4]) += hex[c & 15];
  }
}

std::string printable(std::string_view s) { return escaped(s, false); }
std::string printable_lines(std::string_view s) { return escaped(s, true); }

void append_json_string(std::string& out, std::string_view s) {
  out += '"';
  append_escaping(
      out, s, [](uint32_t c) { return is_printable(c) && c != '"' && c != '\\'; },
      [&](uint32_t c, std::string_view bytes) {
        if (c == not_a_character) out += "\xef\xbf\xbd";
        else if (c == '"' || c == '\\') (out += '\\') += bytes;
        else if (const char letter = escape_letter(c)) (out += '\\') += letter;
        else
          (((out += "\\u") += hex[c >> 12]) += hex[c >> 8 & 15]) += hex[c >> 4 & 15],
              out += hex[c & 15];  // none is above U+FFFF
      });
  out += '"';
}

}  // namespace cameo::support
