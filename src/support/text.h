// UTF-8 and JSON strings: what readers, writers and diagnostics all need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cameo {

inline constexpr uint32_t not_a_character = UINT32_MAX;

// The character at `pos`, which moves past it; not_a_character (and one byte further) where the text is not UTF-8.
// Precondition: pos < s.size().
uint32_t next_character(std::string_view s, size_t& pos);
bool is_utf8(std::string_view s);

// Precondition: `c` is a character: at most 0x10ffff and no surrogate.
void append_utf8(std::string& out, uint32_t c);
constexpr bool is_character(uint32_t c) { return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff); }

// `s` with quotes and escapes. Bytes that are not UTF-8 become U+FFFD, so that the result is always valid JSON.
void append_json_string(std::string& out, std::string_view s);

}  // namespace cameo
