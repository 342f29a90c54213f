// Strings, known while staging.
#include <algorithm>
#include <utility>

#include "staging/stager.h"

namespace cameo::staging {

namespace {

using Results = std::optional<std::vector<Value>>;
Results one(Value v) { return std::vector<Value>{std::move(v)}; }

// Text that grows by parts of the program's choice.
void add(Stager& s, std::string& out, std::string_view more) {
  s.need_text(out.size() + more.size());
  out += more;
}

std::string shown(Stager& s, const Value& v, bool quoted = false) {
  s.step();
  if (const auto* t = v.as<std::string>()) return quoted ? cat("'", *t, "'") : *t;
  if (const auto* b = v.as<bool>()) return *b ? "True" : "False";
  if (const auto* d = v.as<Dim>()) return d->text();
  if (const auto* f = v.as<double>()) {
    std::string out = cat(*f);
    return out.find_first_of(".en") == out.npos ? out + ".0" : out;
  }
  if (v.is_none()) return "None";
  if (const auto* d = v.as<Device>()) return d->name;
  if (v.is<ListRef>() || v.is<Tuple>()) {
    std::string out;
    for (const Value& p : std::vector<Value>(s.items(v))) add(s, out, cat(out.empty() ? "" : ", ", shown(s, p, true)));
    return v.is<Tuple>() ? cat("(", out, ")") : cat("[", out, "]");
  }
  return cat("<", v.kind(), ">");
}

Results format(HostCall& c) {
  const auto* text = c[0].as<std::string>();
  if (!text) return std::nullopt;
  std::string out;
  size_t next = 1;
  for (size_t i = 0; i < text->size(); ++i) {
    if (text->compare(i, 2, "{}") == 0 && next < c.size()) {
      add(c.s, out, shown(c.s, c[next++]));
      ++i;
    } else out += (*text)[i];
  }
  return one(std::move(out));
}
Results percent_format(HostCall& c) {
  const auto* text = c[0].as<std::string>();
  if (!text) return std::nullopt;
  std::vector<Value> values(c.args.begin() + 1, c.args.end());
  if (values.size() == 1 && values[0].is<Tuple>()) values = c.s.items(values[0]);
  std::string out;
  size_t next = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    if ((*text)[i] != '%' || i + 1 >= text->size()) out += (*text)[i];
    else if ((*text)[++i] == '%') out += '%';
    else if (next < values.size()) add(c.s, out, shown(c.s, values[next++]));
  }
  return one(std::move(out));
}
Results to_text(HostCall& c) { return one(shown(c.s, c[0])); }
Results join(HostCall& c) {
  const auto* separator = c[0].as<std::string>();
  if (!separator || c.size() < 2) return std::nullopt;
  std::string out;
  bool first = true;
  for (const Value& v : std::vector<Value>(c.s.items(c[1]))) {
    if (!first) add(c.s, out, *separator);
    first = false;
    add(c.s, out, shown(c.s, v));
  }
  return one(std::move(out));
}
template <int (*F)(int)>
Results mapped(HostCall& c) {
  const auto* text = c[0].as<std::string>();
  if (!text) return std::nullopt;
  std::string out = *text;
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char ch) { return static_cast<char>(F(ch)); });
  return one(std::move(out));
}
Results starts_with(HostCall& c) { return c[0].is<std::string>() ? one(c[0].need<std::string>().starts_with(c[1].need<std::string>())) : std::nullopt; }
Results ends_with(HostCall& c) { return c[0].is<std::string>() ? one(c[0].need<std::string>().ends_with(c[1].need<std::string>())) : std::nullopt; }
Results find(HostCall& c) {
  if (!c[0].is<std::string>()) return std::nullopt;
  const auto at = c[0].need<std::string>().find(c[1].need<std::string>());
  return one(Dim(at == std::string::npos ? -1 : static_cast<int64_t>(at)));
}
Results replace(HostCall& c) {
  if (!c[0].is<std::string>()) return std::nullopt;
  std::string out = c[0].need<std::string>();
  const std::string &from = c[1].need<std::string>(), &to = c[2].need<std::string>();
  if (from.empty()) return std::nullopt;
  const std::string text = std::exchange(out, "");
  size_t start = 0;
  for (size_t at; (at = text.find(from, start)) != std::string::npos; start = at + from.size()) {
    add(c.s, out, std::string_view(text).substr(start, at - start));
    add(c.s, out, to);
  }
  add(c.s, out, std::string_view(text).substr(start));
  return one(std::move(out));
}
Results split(HostCall& c) {
  const auto* text = c[0].as<std::string>();
  if (!text) return std::nullopt;
  const std::string separator = c.size() > 1 && c[1].is<std::string>() ? c[1].need<std::string>() : " ";
  if (separator.empty()) return std::nullopt;
  std::vector<Value> out;
  size_t start = 0;
  for (size_t at; (at = text->find(separator, start)) != std::string::npos; start = at + separator.size()) out.emplace_back(text->substr(start, at - start));
  out.emplace_back(text->substr(start));
  return one(c.s.list(std::move(out)));
}

template <bool Left, bool Right>
Results strip(HostCall& c) {
  const auto* text = c[0].as<std::string>();
  if (!text) return std::nullopt;
  const std::string chars = c.size() > 1 && c[1].is<std::string>() ? c[1].need<std::string>() : " \n\t\f\v";
  const size_t first = Left ? text->find_first_not_of(chars) : 0;
  if (first == std::string::npos) return one(std::string());
  const size_t last = Right ? text->find_last_not_of(chars) : text->size() - 1;
  return one(text->substr(first, last - first + 1));
}

constexpr HostRow table[] = {
    {"aten::format", format}, {"aten::percentFormat", percent_format}, {"aten::str", to_text}, {"aten::join", join},
    {"aten::upper", mapped<::toupper>}, {"aten::lower", mapped<::tolower>}, {"aten::startswith", starts_with}, {"aten::endswith", ends_with},
    {"aten::find", find}, {"aten::replace", replace}, {"aten::split", split}, {"aten::strip", strip<true, true>}, {"aten::lstrip", strip<true, false>}, {"aten::rstrip", strip<false, true>},
};

}  // namespace

std::span<const HostRow> host_text_rows() { return table; }

}  // namespace cameo::staging
