// Overload resolution. The text has no overload names; candidates are tried in registration order, first without
// implicit conversions, then with. Values' own kinds decide: a staged value always has the kind that PyTorch's static
// type says, or a narrower one, and narrower overloads of one name mean the same.
#include <algorithm>
#include <charconv>

#include "staging/joins/staged_list.h"
#include "staging/machine/machine.h"
#include "support/number_text.h"

namespace cameo::staging {

namespace {

using Kind = SchemaType::Kind;

bool fits(Machine& s, const SchemaType& t, const Value& v, bool convert);

bool list_fits(Machine& s, const SchemaType& t, const Value& v, bool convert) {
  if (const StagedList* l = staged_of(s, v)) {
    const auto kind = l->element.kind;
    return t.args[0].kind == Kind::tensor    ? kind == Form::Kind::tensor
           : t.args[0].kind == Kind::integer ? kind == Form::Kind::integer
                                             : kind == Form::Kind::floating;
  }
  if (v.is<ListRef>() || v.is<Tuple>()) {
    const auto& parts = s.items(v);
    return std::all_of(parts.begin(), parts.end(), [&](const Value& p) { return fits(s, t.args[0], p, convert); });
  }
  // int[2] takes one int.
  return t.fixed_size > 0 && (t.args[0].kind == Kind::integer || t.args[0].kind == Kind::floating) &&
         fits(s, t.args[0], v, convert);
}

bool fits(Machine& s, const SchemaType& t, const Value& v, bool convert) {
  switch (t.kind) {
    case Kind::tensor: return v.is<TensorRef>();
    case Kind::integer: return v.is<Dim>() || (convert && (v.is<bool>() || v.is<StagedBool>() || v.is<TensorRef>()));
    case Kind::floating:
      return v.is<double>() || v.is<StagedFloat>() || (convert && (v.is<Dim>() || v.is<bool>() || v.is<TensorRef>()));
    case Kind::number:
      return v.is<Dim>() || v.is<double>() || v.is<StagedFloat>() || v.is<std::complex<double>>() ||
             (convert && (v.is<bool>() || v.is<StagedBool>() || v.is<TensorRef>()));
    case Kind::boolean: return v.is<bool>() || v.is<StagedBool>();
    case Kind::string: return v.is<std::string>();
    case Kind::complex:
      return v.is<std::complex<double>>() || (convert && (v.is<double>() || v.is<Dim>() || v.is<TensorRef>()));
    case Kind::device: return v.is<Device>() || (convert && v.is<std::string>());
    case Kind::any:
    case Kind::variable: return true;
    case Kind::none: return v.is_none();
    case Kind::optional: return v.is_none() || fits(s, t.args[0], v, convert);
    case Kind::list: return list_fits(s, t, v, convert);
    case Kind::dict: return v.is<DictRef>();
    case Kind::tuple: return v.is<Tuple>();
    case Kind::other: return v.is<ObjectRef>() || t.name == "Future" || t.name == "Await";
    case Kind::generator:
    case Kind::storage:
    case Kind::stream: return false;
  }
  return false;
}

Value parse_default(Machine& s, const SchemaParam& p);

Value parse_number(const SchemaParam& p, std::string_view text) {
  if (p.type.kind != Kind::floating && text.find_first_of(".e") == text.npos) {
    int64_t v = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), v).ec == std::errc()) return Dim(v);
  }
  return parse_double(text).value();
}

Value parse_default(Machine& s, const SchemaParam& p) {
  std::string_view text = p.default_text;
  if (text == "None") return Value();
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "Mean") return Dim(1);
  if (text == "long") return Dim(4);
  if (text == "contiguous_format") return Dim(0);
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text.starts_with('"') || text.starts_with('\'')) return std::string(text.substr(1, text.size() - 2));
  if (text.starts_with('[')) {
    std::vector<Value> items;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      const auto comma = std::min(text.find(','), text.size());
      auto item = text.substr(0, comma);
      while (item.starts_with(' ')) item.remove_prefix(1);
      if (item == "True" || item == "False") items.emplace_back(item == "True");
      else if (!item.empty()) items.push_back(parse_number(p, item));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return s.list(std::move(items));
  }
  return parse_number(p, text);
}

// int[2] given one int, also by default: repeated.
Value repeated(Machine& s, const SchemaType& type, Value v) {
  const SchemaType* t = &type;
  while (t->kind == Kind::optional) t = &t->args[0];
  if (t->kind != Kind::list || t->fixed_size <= 1 || !(v.is<Dim>() || v.is<double>())) return v;
  return s.list(std::vector<Value>(static_cast<size_t>(t->fixed_size), v));
}

bool try_schema(Machine& s, const Schema& schema, const CallArgs& call, bool convert, std::vector<Value>& out) {
  out.clear();
  size_t used = 0, keywords_used = 0;
  for (const auto& p : schema.params) {
    const Value* actual = nullptr;
    if (!p.keyword_only && used < call.positional.size()) actual = &call.positional[used++];
    else
      for (const auto& [key, value] : call.keywords)
        if (key == p.name || (key == "input" && p.name == "self")) {
          actual = &value;
          ++keywords_used;
        }
    if (!actual && p.has_default) {
      out.push_back(repeated(s, p.type, parse_default(s, p)));
      continue;
    }
    if (!actual || !fits(s, p.type, *actual, convert)) return false;
    out.push_back(repeated(s, p.type, *actual));
  }
  return (used == call.positional.size() || schema.vararg) && keywords_used == call.keywords.size();
}

bool blocked(const Schema& s) {
  return (s.name == "aten::view" && s.overload == "dtype") ||
         ((s.name == "aten::max" || s.name == "aten::min") && s.overload == "unary_out");
}

}  // namespace

std::optional<Matched> match(Machine& s, const std::vector<Schema>& candidates, const CallArgs& args) {
  Matched m;
  for (const bool convert : {false, true}) {
    if (!convert && candidates.size() == 1) continue;
    for (const Schema& schema : candidates) {
      if (blocked(schema) || !try_schema(s, schema, args, convert, m.args)) continue;
      m.schema = &schema;
      return m;
    }
  }
  return std::nullopt;
}

std::optional<Matched> match_one(Machine& s, const Schema& candidate, const CallArgs& args) {
  Matched m{&candidate, {}};
  if (!try_schema(s, candidate, args, true, m.args)) return std::nullopt;
  return m;
}

// Old printers wrote trailing defaults that today's signatures no longer have.
std::optional<Matched> match_without_defaults(Machine& s, const std::vector<Schema>& candidates, CallArgs args) {
  const auto is_default = [](const Value& v) {
    const auto* d = v.as<Dim>();
    return v.is_none() || v.is<bool>() || (d && (d->is(0) || d->is(1) || d->is(INT64_MAX)));
  };
  for (int dropped = 0; dropped < 4; ++dropped) {
    if (!args.keywords.empty() && is_default(args.keywords.back().second)) args.keywords.pop_back();
    else if (args.positional.size() > 1 && is_default(args.positional.back())) args.positional.pop_back();
    else return std::nullopt;
    if (auto matched = match(s, candidates, args)) return matched;
  }
  return std::nullopt;
}

}  // namespace cameo::staging
