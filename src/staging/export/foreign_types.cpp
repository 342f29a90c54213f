// Declared types of what operators give that stay foreign nodes.
#include <algorithm>

#include "ir/dim.h"
#include "staging/export.h"
#include "staging/export/foreign_types.h"
#include "support/ascii.h"

namespace cameo::staging {

namespace {

Error bad(std::string_view text, std::string_view why) {
  return error("use.type", cat("'", text, "': ", why))
      .help(
          "write OPERATOR=DTYPE[SIZES], for example 'mylib::op=f32[batch,3]', one type for each result with ';' "
          "between, or arg0: as the first argument");
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  while (true) {
    const size_t end = std::min(text.find(at), text.size());
    out.push_back(text.substr(0, end));
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

// f32[batch,3], f32[?,_]; no type where the text has another form.
std::optional<Type> type_of(std::string_view text, DimContext& dims) {
  const size_t open = text.find('[');
  const auto dtype = open == text.npos ? std::nullopt : dtype_from_name(text.substr(0, open));
  if (!dtype || !text.ends_with(']')) return std::nullopt;
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  Shape shape;
  try {
    if (!inside.empty())
      for (const std::string_view size : split(inside, ','))
        shape.push_back(size == "?" || size == "_" ? dims.fresh() : parse_dim(dims, size));
  } catch (const Error&) {
    return std::nullopt;
  }
  return Type::tensor(*dtype, std::move(shape));
}

bool is_argument(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c == '_' || ascii::is_alnum(c); });
}

// The argument of that name, or by its number: arg0.
const Value* argument(std::string_view name, const Schema* s, const CallArgs& args) {
  for (size_t i = 0; i < args.positional.size(); ++i)
    if (name == cat("arg", i) || (s && i < s->params.size() && name == s->params[i].name)) return &args.positional[i];
  for (const auto& [key, value] : args.keywords)
    if (name == key) return &value;
  return nullptr;
}

}  // namespace

ForeignType parse_foreign_type(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos || text.substr(0, equals).find("::") == text.npos)
    throw bad(text, "there is no operator such as mylib::op before '='");
  ForeignType out{std::string(text.substr(0, equals)), {}};
  DimContext scratch;
  for (const std::string_view part : split(text.substr(equals + 1), ';')) {
    if (!is_argument(part) && !type_of(part, scratch)) throw bad(text, cat("'", part, "' is no type"));
    out.results.emplace_back(part);
  }
  return out;
}

std::vector<Type> declared_types(Machine& s, std::string_view op, size_t call, const Schema* schema,
                                 const CallArgs& args) {
  std::vector<const ForeignType*> all;
  for (const ForeignType& t : s.options.types)
    if (t.op == op) all.push_back(&t);
  std::vector<Type> out;
  if (all.empty()) return out;
  for (const std::string& text : all[std::min(call, all.size() - 1)]->results) {
    if (auto type = type_of(text, s.graph.dims())) {
      out.push_back(std::move(*type));
      continue;
    }
    const Value* given = argument(text, schema, args);
    const auto* tensor = given ? given->as<TensorRef>() : nullptr;
    if (!tensor)
      s.fail("use.type", cat("the declared type of ", op, " names '", text, "', which is no tensor argument"));
    out.push_back(s.on.fact(s.read(*tensor)).type);
  }
  return out;
}

bool stands_for(const Node& n, std::string_view op) {
  if (n.dead || !n.op->is_opaque()) return false;
  if (n.op->name == "ATen" && n.op->domain == "org.pytorch.aten") {
    const AttrValue* v = n.extra ? find_attr(*n.extra, "operator") : nullptr;
    const auto* name = v ? std::get_if<std::string>(v) : nullptr;
    return name && (*name == op || cat("aten::", *name) == op);
  }
  return cat(n.op->domain, "::", n.op->name) == op;
}

size_t foreign_calls(const Graph& g, std::string_view op) {
  size_t count = 0;
  for (uint32_t i = 0; i < g.node_capacity(); ++i) count += stands_for(g[NodeId(i)], op);
  return count;
}

void report_unused_types(const Machine& s, DiagSink& sink) {
  for (const ForeignType& t : s.options.types)
    if (!foreign_calls(s.graph, t.op))
      sink.warn("export.type", cat("a type is declared for ", t.op, ", of which the model has no node")).hint =
          "types are for operators that stay foreign nodes: --fallback";
}

}  // namespace cameo::staging
