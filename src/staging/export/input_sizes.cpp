#include "staging/export/input_sizes.h"

#include <algorithm>
#include <charconv>

#include "support/error.h"

namespace cameo::staging {

Dim input_size(Graph& graph, const std::string& input, std::string_view text) {
  int64_t literal = 0;
  const char* end = text.data() + text.size();
  if (const auto r = std::from_chars(text.data(), end, literal); r.ec == std::errc() && r.ptr == end) {
    if (literal < 0) throw error("use.input", cat("input '", input, "': a size cannot be ", literal));
    return Dim(literal);
  }
  const auto colon = text.find(':');
  const Dim d = graph.dims().symbol(text.substr(0, colon));
  const FactOrigin said{FactSource::user, cat("--input ", input), {}};
  const auto not_empty = [&] {
    graph.facts.assume_range(d, 1, std::nullopt, {FactSource::convention, "sizes of inputs are at least 1", {}});
  };
  if (colon == text.npos) {
    not_empty();
    return d;
  }
  const auto rule = text.substr(colon + 1);
  const auto number = [&](std::string_view digits) {
    int64_t v = 0;
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), v);
    if (r.ec != std::errc() || r.ptr != digits.data() + digits.size() || v < 0)
      throw error("use.input", cat("input '", input, "': '", rule, "' is neither a range nor a multiple"))
          .help("write h:1..64 or h:%32");
    return v;
  };
  if (rule.starts_with('%')) {
    const int64_t multiple = number(rule.substr(1));
    if (multiple == 0) throw error("use.input", cat("input '", input, "': a size cannot be a multiple of 0"));
    not_empty();
    graph.facts.assume_multiple(d, multiple, 0, said);
    return d;
  }
  const auto dots = std::min(rule.find(".."), rule.size());
  const int64_t least = number(rule.substr(0, dots)), most = number(rule.substr(std::min(dots + 2, rule.size())));
  if (least > most) throw error("use.input", cat("input '", input, "': the range ", rule, " is empty"));
  graph.facts.assume_range(d, least, most, said);
  return d;
}

}  // namespace cameo::staging
