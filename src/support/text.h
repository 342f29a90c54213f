// UTF-8, JSON strings, and what may be printed: what readers, writers and diagnostics all need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/layers.h"

namespace cameo::support {

inline constexpr uint32_t not_a_character = UINT32_MAX;

// The character at `pos`, which moves past it; not_a_character (and one byte further) where the text is not UTF-8.
// Precondition: pos < s.size().
uint32_t next_character(std::string_view s, size_t& pos);
bool is_utf8(std::string_view s);

// Precondition: `c` is a character: at most 0x10ffff and no surrogate.
void append_utf8(std::string& out, uint32_t c);
constexpr bool is_character(uint32_t c) { return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff); }

// Whether a terminal or page shows the character and does nothing else: no control character, line separator, or mark
// that changes the direction of the text around it.
bool is_printable(uint32_t c);

// Text from a file, to be printed: on one line, `\n` `\r` `\t` for those and `\xNN` for every other byte that is
// not printable or not UTF-8. Backslashes stay, so the result cannot be parsed back.
std::string printable(std::string_view s);
// Text that was built from such pieces: the same, but its line breaks and tabs stay.
std::string printable_lines(std::string_view s);
void append_byte_escapes(std::string& out, std::string_view bytes);  // `\xNN` for each

// `s` with quotes and escapes; only printable characters are not escaped. Bytes that are not UTF-8 become U+FFFD,
// so that the result is always valid JSON.
void append_json_string(std::string& out, std::string_view s);

}  // namespace cameo::support
