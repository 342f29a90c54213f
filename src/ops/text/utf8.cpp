#include "ops/text/utf8.h"

namespace cameo::ops {

std::vector<char32_t> code_points(std::string_view text) {
  std::vector<char32_t> out;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xf0 && first < 0xf8 ? 4
                          : first >= 0xe0                 ? 3
                          : first >= 0xc0                 ? 2
                                                          : 0;
    char32_t c = length == 1 ? first : length == 2 ? first & 0x1f : length == 3 ? first & 0x0f : first & 0x07;
    bool valid = length > 0 && i + length <= text.size() && first < 0xf8;
    for (size_t k = 1; valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      valid = (next & 0xc0) == 0x80;
      c = c << 6 | (next & 0x3f);
    }
    out.push_back(valid ? c : first);
    i += valid ? length : 1;
  }
  return out;
}

void append_utf8(std::string& out, char32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) out += static_cast<char>(c);
  else if (c < 0x800) out += static_cast<char>(0xc0 | c >> 6), tail(0);
  else if (c < 0x10000) out += static_cast<char>(0xe0 | c >> 12), tail(6), tail(0);
  else out += static_cast<char>(0xf0 | c >> 18), tail(12), tail(6), tail(0);
}

namespace {

struct Range {
  char32_t first, last;  // of the upper-case letters
  char32_t distance;     // to the lower-case ones; 1: upper and lower take turns
};
constexpr Range ranges[] = {
    {'A', 'Z', 32},     {0xc0, 0xd6, 32},   {0xd8, 0xde, 32},  {0x100, 0x12e, 1},  {0x132, 0x136, 1},
    {0x139, 0x147, 1},  {0x14a, 0x176, 1},  {0x179, 0x17d, 1}, {0x391, 0x3a1, 32}, {0x3a3, 0x3ab, 32},
    {0x400, 0x40f, 80}, {0x410, 0x42f, 32}, {0x460, 0x480, 1}, {0x48a, 0x4be, 1},  {0x1e00, 0x1e94, 1},
};

}  // namespace

char32_t lower(char32_t c) {
  for (const Range& r : ranges)
    if (c >= r.first && c <= r.last && (r.distance > 1 || (c - r.first) % 2 == 0)) return c + r.distance;
  return c;
}

char32_t upper(char32_t c) {
  for (const Range& r : ranges)
    if (c >= r.first + r.distance && c <= r.last + r.distance && (r.distance > 1 || (c - r.first) % 2 == 1))
      return c - r.distance;
  return c;
}

namespace {
std::string mapped(std::string_view text, char32_t (*change)(char32_t)) {
  std::string out;
  for (const char32_t c : code_points(text)) append_utf8(out, change(c));
  return out;
}
}  // namespace

std::string lower(std::string_view text) { return mapped(text, lower); }
std::string upper(std::string_view text) { return mapped(text, upper); }

}  // namespace cameo::ops
