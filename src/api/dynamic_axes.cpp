#include <charconv>

#include "support/error.h"

#include "api/dynamic_axes.h"

namespace cameo {

namespace {

using support::cat;

[[noreturn]] void wrong(const std::string& why) {
  throw support::error("use.dynamic-axes", cat("dynamic axes: ", why))
      .help("write {\"x\": [0, 2]} or {\"x\": {\"0\": \"batch\", \"2\": \"width\"}}");
}

int64_t axis_number(std::string_view text) {
  int64_t n = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), n);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size()) wrong(cat("'", text, "' is not an axis"));
  return n;
}

void add_axes(std::vector<DynamicAxis>& out, const std::string& value, const json::Value& axes) {
  if (axes.is_array()) {
    size_t i = 0;
    for (const json::Value a : axes.elements()) {
      if (a.kind() != json::Kind::integer) wrong(cat("the axes of '", value, "' are not numbers"));
      out.push_back({value, a.integer(), cat(value, "_dynamic_axes_", ++i)});
    }
  } else if (axes.is_object()) {
    for (const auto& [axis, label] : axes.members()) {
      if (!label.is_string()) wrong(cat("axis ", axis, " of '", value, "' has no name"));
      out.push_back({value, axis_number(axis), std::string(label.text())});
    }
  } else wrong(cat("'", value, "' has neither a list nor a map"));
}

}  // namespace

std::vector<DynamicAxis> dynamic_axes_of(const json::Value& axes) {
  if (!axes.is_object()) wrong("no map of names");
  std::vector<DynamicAxis> out;
  for (const auto& [name, list] : axes.members()) add_axes(out, std::string(name), list);
  return out;
}

std::vector<DynamicAxis> dynamic_axes_of(std::string_view text) {
  const auto document = [&] {
    try {
      return json::Document(support::Bytes::own(text), "the dynamic axes");
    } catch (const Error& e) {
      wrong(e.diag().what);
    }
  }();
  return dynamic_axes_of(document.root());
}

}  // namespace cameo
