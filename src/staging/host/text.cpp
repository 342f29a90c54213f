// Strings made of values. A string with parts that depend on the inputs can be shown by messages; where these are ints,
// it can be compared and measured as well.
#include <utility>

#include "staging/host/tables.h"
#include "staging/joins/open_text.h"
#include "staging/machine/machine.h"
#include "support/number_text.h"

namespace cameo::staging {

namespace {

// Text that grows by parts of the program's choice.
void add(Machine& s, std::string& out, std::string_view more) {
  s.need_text(out.size() + more.size());
  out += more;
}

// Text for a reader, whether it is what the program would have, and if not, the parts that make it: none where not all
// of them are texts and ints.
struct Shown {
  std::string text;
  bool known = true;
  std::optional<std::vector<Value>> parts = {};
};
void add(Machine& s, Shown& out, const Shown& more) {
  if (!more.known && out.known) out.parts = std::vector<Value>{out.text};
  constexpr size_t most_parts = 1000;
  if (!more.known && (!more.parts || (out.parts && out.parts->size() + more.parts->size() > most_parts)))
    out.parts.reset();
  if (out.parts && more.known) {
    if (auto* last = std::get_if<std::string>(&out.parts->back().data)) *last += more.text;
    else out.parts->emplace_back(more.text);
  } else if (out.parts) out.parts->insert(out.parts->end(), more.parts->begin(), more.parts->end());
  add(s, out.text, more.text);
  out.known &= more.known;
}
void add(Machine& s, Shown& out, std::string_view more) { add(s, out, Shown{std::string(more)}); }

Shown shown(Machine& s, const Value& v, bool quoted = false) {
  const Machine::Part part_of(s);
  if (const auto* t = v.as<std::string>()) return {quoted ? cat("'", *t, "'") : *t};
  if (const auto* b = v.as<bool>()) return {*b ? "True" : "False"};
  if (const auto* d = v.as<Dim>())
    return d->is_literal() ? Shown{d->text()} : Shown{d->text(), false, std::vector<Value>{v}};
  if (const auto* f = v.as<double>()) return {fraction_text(*f)};
  if (v.is_none()) return {"None"};
  if (const auto* d = v.as<Device>()) return {d->name};
  if (const auto* open = v.as<OpenText>(); open && !quoted) return {*open->lost.text, false, *open->parts};
  if (const auto* p = lost_in(v); p && p->text) return {*p->text, false};
  if (v.is<Tuple>() || (v.is<ListRef>() && !s.heap.get<ListCell>(v.need<ListRef>().cell).staged)) {
    Shown out{v.is<Tuple>() ? "(" : "["};
    bool first = true;
    for (const Value& p : std::vector<Value>(s.items(v))) {
      if (!first) add(s, out, ", ");
      first = false;
      add(s, out, shown(s, p, true));
    }
    add(s, out, v.is<Tuple>() ? ")" : "]");
    return out;
  }
  return {cat("<", v.kind(), ">"), false};
}
Results result(Machine& s, Shown text) {
  if (text.known) return one(std::move(text.text));
  const auto why =
      std::make_shared<const std::string>(cat("a string contains values that depend on the inputs ('", text.text, "', ",
                                              s.here().describe(), "), and ONNX joins no text before opset 20"));
  Poison lost{why, false, std::make_shared<const std::string>(std::move(text.text))};
  return one(text.parts ? text_of_parts(*text.parts, std::move(lost)) : Value(std::move(lost)));
}

Results format(HostCall& c) {
  const auto* text = c[0].as<std::string>();
  if (!text) return std::nullopt;
  Shown out;
  size_t next = 1;
  for (size_t i = 0; i < text->size(); ++i) {
    if (text->compare(i, 2, "{}") == 0 && next < c.size()) {
      add(c.s, out, shown(c.s, c[next++]));
      ++i;
    } else add(c.s, out, std::string_view(*text).substr(i, 1));
  }
  return result(c.s, std::move(out));
}
Results percent_format(HostCall& c) {
  const auto* text = c[0].as<std::string>();
  if (!text) return std::nullopt;
  std::vector<Value> values(c.args.begin() + 1, c.args.end());
  if (values.size() == 1 && values[0].is<Tuple>()) values = c.s.items(values[0]);
  Shown out;
  size_t next = 0;
  for (size_t i = 0; i < text->size(); ++i) {
    if ((*text)[i] != '%' || i + 1 >= text->size()) add(c.s, out, std::string_view(*text).substr(i, 1));
    else if ((*text)[++i] == '%') add(c.s, out, "%");
    else if (next < values.size()) {
      Shown value = shown(c.s, values[next++]);
      if (std::string_view("dis").find((*text)[i]) == std::string_view::npos) value.parts.reset();
      add(c.s, out, value);
    }
  }
  return result(c.s, std::move(out));
}
Results to_text(HostCall& c) { return result(c.s, shown(c.s, c[0])); }
Results join(HostCall& c) {
  const auto* separator = c[0].as<std::string>();
  if (!separator || c.size() < 2) return std::nullopt;
  Shown out;
  bool first = true;
  for (const Value& v : std::vector<Value>(c.s.items(c[1]))) {
    if (!first) add(c.s, out, *separator);
    first = false;
    add(c.s, out, shown(c.s, v));
  }
  return result(c.s, std::move(out));
}
// a + b where one of them is open; number.cpp has the others.
Results plus(HostCall& c) {
  const auto is_text = [](const Value& v) { return v.is<std::string>() || v.is<OpenText>(); };
  if (c.size() != 2 || !is_text(c[0]) || !is_text(c[1])) return std::nullopt;
  Shown out = shown(c.s, c[0]);
  add(c.s, out, shown(c.s, c[1]));
  return result(c.s, std::move(out));
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
    {"aten::format", format},
    {"aten::percentFormat", percent_format},
    {"aten::str", to_text},
    {"aten::join", join},
    {"aten::add", plus},
    {"aten::replace", replace},
    {"aten::strip", strip<true, true>},
    {"aten::lstrip", strip<true, false>},
    {"aten::rstrip", strip<false, true>},
};

}  // namespace

std::span<const HostRow> host_text_rows() { return table; }

}  // namespace cameo::staging
