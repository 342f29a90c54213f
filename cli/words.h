// Words for people: text and numbers joined, counts, tables; and errors of the command line.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cameo/diag.h"

namespace cameo::cli {

template <class T>
void append(std::string& out, const T& part) {
  if constexpr (std::convertible_to<T, std::string_view>) out += std::string_view(part);
  else if constexpr (std::same_as<T, char>) out += part;
  else {
    char digits[40];  // of a double as few as read back the same
    const char* const end = std::to_chars(digits, digits + sizeof digits, part).ptr;
    out.append(digits, static_cast<size_t>(end - digits));
  }
}
template <class... T>
std::string cat(const T&... parts) {
  std::string out;
  (append(out, parts), ...);
  return out;
}

// throw error("use.value", cat("--opset is ", n)).help("7 to 27");
Error error(std::string_view code, std::string what);

std::vector<std::string> split(std::string_view text, char separator);
std::string joined(const std::vector<std::string>& parts);  // "a, b"
std::string count_text(uint64_t n);                         // "1,234,567"
std::string plural(size_t n, std::string_view one);         // "1 node", "2 nodes"
std::string bytes_text(uint64_t bytes);                     // "1.5 MiB"

// For tables: filled up with blanks after it, or before it; longer ones stay as they are.
std::string padded(std::string_view text, size_t width);
std::string padded_left(std::string_view text, size_t width);
constexpr size_t widest_column = 48;  // a longer name does not widen a table

}  // namespace cameo::cli
