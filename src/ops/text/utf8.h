// Text as code points, for operators that look inside strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/layers.h"

namespace cameo::ops {

// Bytes that are not valid UTF-8 stand for themselves, one code point each.
std::vector<char32_t> code_points(std::string_view text);
void append_utf8(std::string& out, char32_t c);
// Simple case mapping of Latin, Greek and Cyrillic letters; all else stays. The same on every machine, whatever its
// locale.
char32_t lower(char32_t c);
char32_t upper(char32_t c);
std::string lower(std::string_view text);
std::string upper(std::string_view text);

}  // namespace cameo::ops
