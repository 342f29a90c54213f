#include "support/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace cameo::support {

namespace {

#if !defined(__cpp_lib_to_chars)
float round_trip(const char* text, float) { return std::strtof(text, nullptr); }
double round_trip(const char* text, double) { return std::strtod(text, nullptr); }
#endif

template <class T>
void append(std::string& out, T v) {
  if (std::isnan(v)) return void(out += std::signbit(v) ? "-nan" : "nan");
  if (std::isinf(v)) return void(out += v < 0 ? "-inf" : "inf");
  char buffer[64];
#if defined(__cpp_lib_to_chars)
  out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, v).ptr);
#else
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, static_cast<double>(v));
    if (round_trip(buffer, v) == v) break;
  }
  out += buffer;
#endif
}

bool looks_like_number(std::string_view s) {
  if (!s.empty() && s[0] == '-') s.remove_prefix(1);
  return !s.empty() && ((s[0] >= '0' && s[0] <= '9') || s[0] == '.' || s[0] == 'i' || s[0] == 'n');
}

#if defined(__cpp_lib_to_chars)
// What from_chars does not round: zero or infinity, by the place of the first digit that is not 0.
double beyond_range(std::string_view number) {
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const size_t end = std::min(number.find_first_of("eE"), number.size());
  const size_t point = std::min(number.find('.'), end), digit = number.find_first_of("123456789");
  int64_t exponent = 0;
  const bool plus = number.substr(end).size() > 1 && number[end + 1] == '+';
  const char* const from = number.data() + std::min(end + (plus ? 2 : 1), number.size());
  if (std::from_chars(from, number.data() + number.size(), exponent).ec == std::errc::result_out_of_range)
    exponent = *from == '-' ? -(int64_t{1} << 60) : int64_t{1} << 60;
  const double size = static_cast<int64_t>(point) - static_cast<int64_t>(digit) + exponent > 0 ? HUGE_VAL : 0;
  return negative ? -size : size;
}
#endif

template <class T>
std::optional<T> parse(std::string_view text) {
  if (!looks_like_number(text)) return std::nullopt;
#if defined(__cpp_lib_to_chars)
  T v{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (end != text.data() + text.size()) return std::nullopt;
  if (code == std::errc()) return v;
  if (code != std::errc::result_out_of_range) return std::nullopt;
  return static_cast<T>(beyond_range(text));
#else
  const std::string copy(text);
  char* after = nullptr;
  const T w = sizeof(T) == sizeof(float) ? static_cast<T>(std::strtof(copy.c_str(), &after))
                                         : static_cast<T>(std::strtod(copy.c_str(), &after));
  if (after != copy.c_str() + copy.size()) return std::nullopt;
  return w;
#endif
}

}  // namespace

void append_shortest(std::string& out, float v) { append(out, v); }
void append_shortest(std::string& out, double v) { append(out, v); }
std::string fraction_text(double v) {
  std::string out;
  append(out, v);
  return out.find_first_of(".en") == out.npos ? out + ".0" : out;
}
std::optional<float> parse_float(std::string_view text) { return parse<float>(text); }
std::optional<double> parse_double(std::string_view text) { return parse<double>(text); }

#if defined(__cpp_lib_to_chars)
double leading_double(std::string_view text, size_t& used) {
  used = 0;
  size_t at = std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size());
  if (at < text.size() && text[at] == '+' && at + 1 < text.size() && text[at + 1] != '-') ++at;
  double v = 0;
  const auto [end, code] = std::from_chars(text.data() + at, text.data() + text.size(), v);
  if (code == std::errc::invalid_argument) return 0;
  used = static_cast<size_t>(end - text.data());
  if (code == std::errc()) return v;
  return beyond_range(text.substr(at, used - at));
}
namespace {
std::string written(double v, std::chars_format format, int precision) {
  char buffer[400];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, v, format, precision).ptr);
}
}  // namespace
std::string fixed_text(double v, int decimals) { return written(v, std::chars_format::fixed, decimals); }
std::string short_text(double v, int digits) { return written(v, std::chars_format::general, digits); }
std::string scientific_text(double v, int decimals) { return written(v, std::chars_format::scientific, decimals); }
#else
double leading_double(std::string_view text, size_t& used) {
  const std::string copy(text);
  char* end = nullptr;
  const double v = std::strtod(copy.c_str(), &end);
  used = static_cast<size_t>(end - copy.c_str());
  return v;
}
namespace {
std::string written(const char* format, double v, int precision) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, precision, v);
  return buffer;
}
}  // namespace
std::string fixed_text(double v, int decimals) { return written("%.*f", v, decimals); }
std::string short_text(double v, int digits) { return written("%.*g", v, digits); }
std::string scientific_text(double v, int decimals) { return written("%.*e", v, decimals); }
#endif

}  // namespace cameo::support
