#include "staging/export/input_sizes.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "support/error.h"

namespace cameo::staging {

namespace {
// Where the closing quote of a name stands whose opening quote is first; npos: nowhere.
size_t closing_quote(std::string_view text) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;
    else if (text[i] == '\'') return i;
  }
  return text.npos;
}

std::string without_escapes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}
}  // namespace

size_t size_end(std::string_view text) {
  const size_t start = std::min(text.find_first_not_of(' '), text.size());
  const auto rest = text.substr(start);
  const size_t close = rest.starts_with('\'') ? closing_quote(rest) : rest.npos;
  const size_t from = close == rest.npos ? 0 : close;
  return std::min(start + std::min(rest.find(',', from), rest.size()), text.size());
}

WrittenSize written_size(std::string_view text) {
  const size_t close = text.starts_with('\'') ? closing_quote(text) : text.npos;
  const bool quoted = close != text.npos && (close + 1 == text.size() || text[close + 1] == ':');
  const auto colon = text.find(':', quoted ? close : 0);
  return {quoted ? without_escapes(text.substr(1, close - 1)) : std::string(text.substr(0, colon)),
          colon == text.npos ? std::nullopt : std::optional(text.substr(colon + 1))};
}

void share_ranges(const std::vector<std::string*>& sizes) {
  std::map<std::string, std::string> with_range;
  for (const std::string* size : sizes)
    if (const auto written = written_size(*size); written.rule && !written.rule->starts_with('%'))
      with_range.emplace(written.name, *size);
  for (std::string* size : sizes)
    if (const auto written = written_size(*size); !written.rule)
      if (const auto said = with_range.find(written.name); said != with_range.end()) *size = said->second;
}

Dim input_size(Graph& graph, const std::string& input, std::string_view text) {
  int64_t literal = 0;
  const char* end = text.data() + text.size();
  if (const auto r = std::from_chars(text.data(), end, literal); r.ec == std::errc() && r.ptr == end) {
    if (literal < 0) throw error("use.input", cat("input '", input, "': a size cannot be ", literal));
    return Dim(literal);
  }
  const WrittenSize written = written_size(text);
  const Dim d = graph.dims().symbol(written.name);
  const FactOrigin said{FactSource::user, cat("--input ", input), {}};
  const auto not_empty = [&] {
    graph.facts.assume_range(d, 1, std::nullopt, {FactSource::convention, "sizes of inputs are at least 1", {}});
  };
  if (!written.rule) {
    not_empty();
    return d;
  }
  const auto rule = *written.rule;
  const auto wrong = [&] {
    return error("use.input", cat("input '", input, "': '", rule, "' is neither a range nor a multiple"))
        .help("write h:1..64, h:4.. or h:%32");
  };
  const auto number = [&](std::string_view digits) {
    int64_t v = 0;
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), v);
    if (r.ec != std::errc() || r.ptr != digits.data() + digits.size() || v < 0) throw wrong();
    return v;
  };
  if (rule.starts_with('%')) {
    const int64_t multiple = number(rule.substr(1));
    if (multiple == 0) throw error("use.input", cat("input '", input, "': a size cannot be a multiple of 0"));
    not_empty();
    graph.facts.assume_multiple(d, multiple, 0, said);
    return d;
  }
  const auto dots = rule.find("..");
  if (dots == rule.npos || rule == "..") throw wrong();
  const std::string_view above = rule.substr(dots + 2);
  const int64_t least = dots == 0 ? 1 : number(rule.substr(0, dots));
  const std::optional<int64_t> most = above.empty() ? std::nullopt : std::optional(number(above));
  if (most && least > *most) throw error("use.input", cat("input '", input, "': the range ", rule, " is empty"));
  graph.facts.assume_range(d, least, most, said);
  return d;
}

}  // namespace cameo::staging
