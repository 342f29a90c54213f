#include "staging/input_sizes.h"

#include <charconv>

#include "support/error.h"

namespace cameo {

Dim input_size(Graph& graph, const std::string& input, std::string_view text) {
  int64_t literal = 0;
  const char* end = text.data() + text.size();
  if (const auto r = std::from_chars(text.data(), end, literal); r.ec == std::errc() && r.ptr == end) {
    if (literal < 0) throw error("use.input", cat("input '", input, "': a size cannot be ", literal));
    return Dim(literal);
  }
  const auto colon = text.find(':');
  const auto name = text.substr(0, colon);
  const Dim d = graph.dims().symbol(name);
  const FactOrigin said{FactSource::user, cat("--input ", input), {}};
  graph.facts.assume_range(d, 1, std::nullopt, said);
  if (colon == text.npos) return d;
  const auto rule = text.substr(colon + 1);
  int64_t a = 0, b = 0;
  if (rule.starts_with('%')) {
    std::from_chars(rule.data() + 1, end, a);
    if (a <= 0) throw error("use.input", cat("'", rule, "' is no multiple"));
    graph.facts.assume_multiple(d, a, 0, said);
  } else {
    const auto dots = rule.find("..");
    if (dots == rule.npos) throw error("use.input", cat("'", rule, "' is no range: write 1..64"));
    std::from_chars(rule.data(), rule.data() + dots, a);
    std::from_chars(rule.data() + dots + 2, end, b);
    graph.facts.assume_range(d, a, b, said);
  }
  return d;
}

}  // namespace cameo
