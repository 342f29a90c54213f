#include "api/page/module_path.h"

namespace cameo::page {

namespace {

constexpr size_t deepest = 24;  // a hostile name must not nest without end

void add_parts(std::string_view text, char separator, std::vector<std::string>& out) {
  while (!text.empty()) {
    const size_t end = text.find(separator);
    const auto part = text.substr(0, end);
    if (!part.empty() && out.size() < deepest) out.emplace_back(part);
    text = end == text.npos ? "" : text.substr(end + 1);
  }
}

}  // namespace

std::vector<std::string> module_path(std::string_view node_name, std::string_view scope) {
  std::vector<std::string> out;
  const size_t last = node_name.rfind('/');
  if (last == node_name.npos) {
    if (scope != node_name) add_parts(scope, '.', out);
    return out;
  }
  std::vector<std::string> steps;
  add_parts(node_name.substr(0, last), '/', steps);
  std::string_view before;
  for (const std::string& step : steps) {
    std::string_view rest = step;  // torch repeats the parent's name: layer1/layer1.0
    if (!before.empty() && rest.starts_with(before) && rest.size() > before.size() && rest[before.size()] == '.')
      rest.remove_prefix(before.size() + 1);
    add_parts(rest, '.', out);
    before = step;
  }
  return out;
}

}  // namespace cameo::page
