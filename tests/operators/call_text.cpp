#include "operators/call_text.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "kernels/carrier.h"
#include "lowering/complex.h"
#include "support/error.h"
#include "support/number_text.h"

namespace cameo::tests {

namespace {

using Kind = SchemaType::Kind;

const SchemaType& inside(const SchemaType& t) { return t.kind == Kind::optional ? inside(t.args[0]) : t; }

class CallParser {
 public:
  CallParser(std::string_view text, Lower& on) : text_(text), on_(on) {}

  ParsedCall whole() {
    const std::string name(until("("));
    const Row* row = find_row(name);
    const Schema* schema = find_schema(name);
    if (!row || !schema) fail(cat("there is no lowering ", name));
    expect('(');
    std::vector<std::optional<Arg>> given(schema->params.size());
    for (size_t at = 0; !accept(')'); ++at) {
      if (at > 0) expect(',');
      if (accept(')')) break;
      const size_t place = keyword(*schema).value_or(at);
      if (place >= given.size() || given[place]) fail("one argument too many");
      given[place] = value(schema->params[place].type, schema->params[place].name);
    }
    ParsedCall out{row, {schema, {}}};
    for (size_t i = 0; i < given.size(); ++i) {
      const SchemaParam& p = schema->params[i];
      if (!given[i] && !p.has_default) fail(cat("'", p.name, "' is missing"));
      out.call.args.push_back(given[i] ? *given[i] : default_argument(p));
    }
    return out;
  }

  Arg value(const SchemaType& type, const std::string& name) {
    const SchemaType& t = inside(type);
    skip();
    if (accept('[')) return list(t, name);
    if (peek() == '"') return quoted();
    const std::string word(until(",)]([{ "));
    const auto dtype = dtype_from_name(word);
    if (dtype && (peek() == '[' || peek() == '{')) return tensor(*dtype, name);
    if (dtype && t.is_dtype) return Arg(Dim(torch_from_dtype(*dtype)));
    if (word == "None") return Arg();
    if (word == "True" || word == "False") return Arg(word == "True");
    return repeated(t, number(t, word));
  }

 private:
  [[noreturn]] void fail(std::string what) const {
    throw error("text.call", std::move(what)).at({.line = 1, .column = static_cast<uint32_t>(at_ + 1)});
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (std::isspace(static_cast<unsigned char>(peek()))) ++at_;
  }
  bool accept(char c) {
    skip();
    return peek() == c ? ++at_, true : false;
  }
  void expect(char c) {
    if (!accept(c)) fail(cat("'", c, "' is expected here"));
  }
  std::string_view until(std::string_view ends) {
    skip();
    const size_t from = at_;
    at_ = std::min(text_.find_first_of(ends, at_), text_.size());
    return text_.substr(from, at_ - from);
  }

  std::optional<size_t> keyword(const Schema& s) {
    skip();
    const size_t end = text_.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", at_);
    if (end >= text_.size() || text_[end] != '=') return std::nullopt;
    const auto name = text_.substr(at_, end - at_);
    for (size_t i = 0; i < s.params.size(); ++i)
      if (s.params[i].name == name) return at_ = end + 1, i;
    fail(cat("there is no parameter '", name, "'"));
  }

  Arg quoted() {
    const size_t end = text_.find('"', ++at_);
    if (end == text_.npos) fail("the text does not end");
    const std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return Arg(out);
  }

  Arg list(const SchemaType& t, const std::string& name) {
    static const SchemaType any;
    std::vector<Arg> items;
    while (!accept(']')) {
      if (!items.empty()) expect(',');
      items.push_back(value(t.args.empty() ? any : t.args[0], cat(name, "_", items.size())));
    }
    return Arg::list(std::move(items));
  }

  Arg tensor(DType dtype, const std::string& name) {
    if (accept('{')) return constant(dtype);
    expect('[');
    Shape shape;
    while (!accept(']')) {
      if (!shape.empty()) expect(',');
      shape.push_back(parse_dim(on_.graph().dims(), until(",]")));
    }
    const std::string own(peek() == ' ' ? until(",)]") : "");
    if (!is_complex(dtype)) return Arg(input(own.empty() ? name : own, dtype, shape));
    shape.push_back(Dim(2));
    return Arg(complex_of_pair(on_, input(own.empty() ? name : own, real_type(dtype), shape)));
  }

  V input(const std::string& name, DType dtype, const Shape& shape) {
    const V v = on_.graph().add_input(on_.graph().main(), name, Type::tensor(dtype, shape));
    for (size_t i = 0; i < shape.size(); ++i) on_.bind_axis(shape[i], v, static_cast<int64_t>(i));
    return v;
  }

  Arg constant(DType dtype) {
    std::vector<double> values;
    while (!accept('}')) {
      if (!values.empty()) expect(',');
      const auto v = parse_double(until(",}"));
      if (!v) fail("a number is expected here");
      values.push_back(*v);
    }
    std::vector<int64_t> shape{static_cast<int64_t>(values.size())};
    if (accept('[')) expect(']'), shape.clear();
    return Arg(V(on_.graph().add_constant(store(dtype, shape, values))));
  }

  Arg number(const SchemaType& t, const std::string& word) {
    if (word == "inf") return Arg(std::numeric_limits<double>::infinity());
    if (word == "-inf") return Arg(-std::numeric_limits<double>::infinity());
    const bool is_number = !word.empty() && (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-');
    if (!is_number) return Arg(parse_dim(on_.graph().dims(), word));
    const auto v = parse_double(word);
    if (!v) fail(cat("'", word, "' is no value"));
    const bool floating = t.kind == Kind::floating || word.find_first_of(".e") != word.npos;
    return floating ? Arg(*v) : Arg(Dim(static_cast<int64_t>(*v)));
  }

  // int[2] given one int.
  static Arg repeated(const SchemaType& t, Arg v) {
    if (t.kind != Kind::list || t.fixed_size <= 0) return v;
    return Arg::list(std::vector<Arg>(static_cast<size_t>(t.fixed_size), v));
  }

  std::string_view text_;
  size_t at_ = 0;
  Lower& on_;
};

std::string number_text(double v) {
  std::string out = cat(v);
  if (out.find_first_of(".einf") == out.npos) out += ".0";
  return out;
}

}  // namespace

ParsedCall parse_call(std::string_view text, Lower& on) { return CallParser(text, on).whole(); }

Arg default_argument(const SchemaParam& p) {
  static constexpr std::pair<std::string_view, int64_t> words[] = {
      {"Mean", 1}, {"long", 4}, {"contiguous_format", 0}, {"strided", 0}};
  for (const auto& [word, number] : words)
    if (p.default_text == word) return Arg(Dim(number));
  std::string text = p.default_text;
  std::replace(text.begin(), text.end(), '\'', '"');
  Graph scratch;
  Lower on(scratch, scratch.main());
  return CallParser(text, on).value(p.type, p.name);
}

std::string arg_text(const Arg& a, const Graph& g, bool named) {
  if (const auto* v = a.as<V>()) {
    if (!named) return g[*v].name.empty() ? "tensor" : g[*v].name;
    std::string sizes;
    for (const Dim d : g[*v].fact.shape()) sizes += cat(sizes.empty() ? "" : ",", d.text());
    return cat(name(g[*v].fact.dtype()), "[", sizes, "]");
  }
  if (const auto* b = a.as<bool>()) return *b ? "True" : "False";
  if (const auto* d = a.as<Dim>()) return d->text();
  if (const auto* f = a.as<double>()) return number_text(*f);
  if (const auto* s = a.as<std::string>()) return cat("\"", *s, "\"");
  if (const auto* list = a.as<ArgList>()) {
    std::string items;
    for (const Arg& item : **list) items += cat(items.empty() ? "" : ", ", arg_text(item, g, named));
    return cat("[", items, "]");
  }
  return a.is_none() ? "None" : a.kind();
}

std::string call_text(const Schema& schema, const std::vector<Arg>& args, const Graph& g) {
  std::string out;
  bool skipped = false;
  for (size_t i = 0; i < args.size(); ++i) {
    const SchemaParam& p = schema.params[i];
    const std::string text = arg_text(args[i], g, true);
    if (p.has_default && text == arg_text(default_argument(p), g, true)) {
      skipped = true;
      continue;
    }
    const std::string value = inside(p.type).is_dtype && args[i].as<Dim>()
                                  ? std::string(name(*dtype_from_torch(args[i].as<Dim>()->literal())))
                                  : text;
    out += cat(out.empty() ? "" : ", ", skipped || p.keyword_only ? cat(p.name, "=") : "", value);
  }
  return cat(schema.full_name(), "(", out, ")");
}

void add_results(const std::vector<Arg>& results, std::vector<ValueId>& out) {
  for (const Arg& a : results) {
    if (const auto* v = a.as<V>()) out.push_back(*v);
    else if (const auto* f = a.as<StagedFloat>()) out.push_back(f->value);
    else if (const auto* b = a.as<StagedBool>()) out.push_back(b->value);
    else if (const auto* list = a.as<ArgList>()) add_results(**list, out);
  }
}

}  // namespace cameo::tests
