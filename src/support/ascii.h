// Letters, digits and spaces of ASCII, whatever the locale: <cctype> follows setlocale, and in Turkish 'I' is no
// capital of 'i'.
#pragma once

namespace cameo::ascii {

constexpr bool is_upper(int c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(int c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_alpha(int c) { return is_upper(c) || is_lower(c); }
constexpr bool is_digit(int c) { return c >= '0' && c <= '9'; }
constexpr bool is_alnum(int c) { return is_alpha(c) || is_digit(c); }
constexpr bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_punct(int c) { return c > ' ' && c < 0x7f && !is_alnum(c); }
constexpr char to_lower(int c) { return static_cast<char>(is_upper(c) ? c + ('a' - 'A') : c); }
constexpr char to_upper(int c) { return static_cast<char>(is_lower(c) ? c - ('a' - 'A') : c); }

}  // namespace cameo::ascii
