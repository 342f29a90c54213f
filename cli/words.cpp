#include "cli/words.h"

#include <cstdio>
#include <iterator>

namespace cameo::cli {

Error error(std::string_view code, std::string what) {
  Diag d;
  d.code = code;
  d.what = std::move(what);
  return Error(std::move(d));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (true) {
    const size_t end = text.find(separator);
    out.emplace_back(text.substr(0, end));
    if (end == text.npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return cat(bytes, " B");
  static constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double v = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (v >= 1024 && unit + 1 < std::size(units)) v /= 1024, ++unit;
  char text[40];
  std::snprintf(text, sizeof text, v < 10 ? "%.2f %s" : "%.1f %s", v, units[unit]);
  return text;
}

static std::string blanks(std::string_view beside, size_t width) {
  return std::string(beside.size() < width ? width - beside.size() : 0, ' ');
}
std::string padded(std::string_view text, size_t width) { return cat(text, blanks(text, width)); }
std::string padded_left(std::string_view text, size_t width) { return cat(blanks(text, width), text); }

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += cat(out.empty() ? "" : ", ", p);
  return out;
}

std::string count_text(uint64_t n) {
  const std::string digits = cat(n);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string plural(size_t n, std::string_view one) { return cat(n, " ", one, n == 1 ? "" : "s"); }

}  // namespace cameo::cli
