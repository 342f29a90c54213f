// What a verb was given.
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "cli/verb.h"

namespace cameo::cli {

bool Args::has(std::string_view flag) const {
  return std::any_of(given_.begin(), given_.end(), [&](const Given& g) { return g.flag == flag; });
}

std::optional<std::string> Args::value(std::string_view flag) const {
  for (size_t i = given_.size(); i-- > 0;)
    if (given_[i].flag == flag) return given_[i].value;
  return std::nullopt;
}

std::string Args::text(std::string_view flag, std::string_view fallback) const {
  return value(flag).value_or(std::string(fallback));
}

int64_t Args::integer(std::string_view flag, int64_t fallback, int64_t least, int64_t most) const {
  const auto text = value(flag);
  return text ? whole_number(flag, *text, least, most) : fallback;
}

double Args::number(std::string_view flag, double fallback) const {
  const auto text = value(flag);
  if (!text) return fallback;
  char* end = nullptr;
  const double v = std::strtod(text->c_str(), &end);
  if (text->empty() || *end) throw error("use.value", cat("--", flag, " wants a number, not '", *text, "'"));
  return v;
}

std::optional<double> Args::number(std::string_view flag) const {
  return has(flag) ? std::optional(number(flag, 0)) : std::nullopt;
}

size_t Args::choice(std::string_view flag, std::initializer_list<std::string_view> allowed) const {
  const std::string given = text(flag, *allowed.begin());
  const auto at = std::find(allowed.begin(), allowed.end(), given);
  if (at != allowed.end()) return static_cast<size_t>(at - allowed.begin());
  throw error("use.value",
              cat("--", flag, " is one of ", joined({allowed.begin(), allowed.end()}), ", not '", given, "'"));
}

std::vector<std::string> Args::values(std::string_view flag) const {
  std::vector<std::string> out;
  for (const Given& g : given_)
    if (g.flag == flag) out.push_back(g.value);
  return out;
}

std::vector<std::string> Args::list(std::string_view flag) const {
  std::vector<std::string> out;
  for (const std::string& v : values(flag))
    for (std::string& part : split(v, ',')) out.push_back(std::move(part));
  return out;
}

int64_t whole_number(std::string_view flag, std::string_view text, int64_t least, int64_t most) {
  int64_t n = 0;
  const auto end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, n);
  if (r.ec != std::errc() || r.ptr != end || n < least || n > most) {
    const std::string range = least == INT64_MIN  ? ""
                              : most == INT64_MAX ? cat(", ", least, " or more")
                                                  : cat(" from ", least, " to ", most);
    throw error("use.value", cat("--", flag, " wants a whole number", range, ", not '", text, "'"));
  }
  return n;
}

std::pair<std::string, std::string> name_and_value(std::string_view flag, std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    throw error("use.value", cat("--", flag, " wants NAME=VALUE, not '", text, "'"));
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::pair<std::string, int64_t> name_and_size(std::string_view flag, std::string_view text) {
  const auto [name, size] = name_and_value(flag, text);
  return {name, whole_number(flag, size, 0)};
}

}  // namespace cameo::cli
