// Regions whose nodes mean something else than outside, and custom operators that PyTorch made functional.
#include <utility>

#include "lowering/arg.h"
#include "staging/nodes/interpreter.h"

namespace cameo::staging {

std::vector<Value> NodeInterpreter::inlined(const HigherOrder& h) {
  size_t at = 0;
  while (at < h.positional.size() && pt2::tagged(h.positional[at]).tag != "as_graph") ++at;
  return body(graph_argument(h, at), operands(h, at + 1));
}

// wrap_with_autocast(device, dtype, enabled, cache, graph, ...): inside, operators cast by PyTorch's lists, which
// depend on the device. The archive does not write the casts; the types of results tell them.
std::vector<Value> NodeInterpreter::autocast(const HigherOrder& h) {
  if (h.positional.size() < 5) h.node.fail("autocast without its arguments");
  const struct Region {
    Region(bool& f, bool on) : flag(f), outside(std::exchange(f, on)) {}
    ~Region() { flag = outside; }
    bool& flag;
    bool outside;
  } region(autocast_, pt2::tagged(h.positional[2]).tag == "as_bool" && pt2::tagged(h.positional[2]).value.boolean());
  return inlined(h);
}

namespace {
// Operators whose result has another type than their operands by themselves.
bool converts(std::string_view op, json::Value inputs) {
  static constexpr std::string_view names[] = {"to",     "_to_copy", "type_as", "copy", "view",     "clone",
                                               "detach", "alias",    "float",   "half", "bfloat16", "double"};
  for (const auto name : names)
    if (op == name) return true;
  for (const json::Value in : inputs.elements())
    if (pt2::tagged(in["arg"]).tag == "as_scalar_type") return true;
  return op.ends_with('_');
}
}  // namespace

Value NodeInterpreter::cast_float(const Value& v, DType to) {
  if (v.is<ListRef>()) {
    std::vector<Value> parts = s.items(v);
    for (Value& part : parts) part = cast_float(part, to);
    return s.list(std::move(parts));
  }
  const auto* t = v.as<TensorRef>();
  if (!t) return v;
  const V value = s.read(*t);
  const DType is = s.on.dtype(value);
  return is == to || !is_float(is) ? v : s.tensor(s.on.to(value, to));
}

void NodeInterpreter::apply_autocast(std::string_view op, json::Value n, CallArgs& args, const NodeScope& scope) {
  if (converts(op, n["inputs"])) return;
  for (const json::Value out : n["outputs"].elements()) {
    const auto [tag, v] = pt2::tagged(out);
    if (tag != "as_tensor") continue;
    const json::Value meta = scope.graph["tensor_values"].find(v["name"].text());
    const auto torch = meta ? pt2::dtype_of(meta["dtype"].integer()) : std::nullopt;
    const auto dtype = torch && !is_complex(*torch) ? dtype_from_torch(static_cast<int64_t>(*torch)) : std::nullopt;
    if (dtype && is_float(*dtype))
      for (auto& [key, value] : args.keywords) value = cast_float(value, *dtype);
    return;
  }
}

namespace {

using Given = std::vector<std::pair<std::string_view, Value>>;

// An argument that the operator writes, and which of the tensors behind its arguments it lies in.
struct Written {
  std::string name;
  size_t base;
};

std::vector<Written> written_arguments(const Given& given, size_t bases, json::Value node) {
  std::vector<Written> out;
  for (const auto& [key, v] : given) {
    if (!key.starts_with('_') || !key.ends_with("_base_index") || !v.is<Dim>()) continue;
    const int64_t base = v.need<Dim>().known().value_or(-1);
    if (base < 0 || static_cast<size_t>(base) >= bases) node.fail("a written argument without its base");
    out.push_back({std::string(key.substr(1, key.size() - 12)), static_cast<size_t>(base)});
  }
  return out;
}

}  // namespace

// A custom operator that writes to its arguments, made functional: its results, then the new values of what it writes.
// The node or rule that stands for it gives the new values of the written arguments after its results.
std::vector<Value> NodeInterpreter::functionalized(const HigherOrder& h) {
  const size_t outputs = h.node["outputs"].size();
  const pt2::Tagged named = pt2::tagged(h.at(0));
  const json::Value text = named.value;
  const auto target = named.tag == "as_operator" ? target_of(text.text()) : std::nullopt;
  if (!target) h.node.fail("an operator's name is expected here");
  Given given;
  std::vector<Value> bases;
  for (const json::Value in : h.node["inputs"].elements()) {
    const auto name = in["name"].text();
    if (name.empty()) continue;
    if (name == "_all_bases") bases = s.items(argument(in["arg"], h.scope));
    else given.emplace_back(name, argument(in["arg"], h.scope));
  }
  const auto find = [&](const std::string& key) -> const Value* {
    for (const auto& [name, v] : given)
      if (name == key) return &v;
    return nullptr;
  };
  const std::vector<Written> written = written_arguments(given, bases.size(), h.node);
  CallArgs args;
  for (const auto& [key, v] : given)
    if (!key.starts_with('_')) args.keywords.emplace_back(key, v);
  const auto cut = [&](const Written& w, std::string_view op, std::vector<Value> first) {
    if (find(cat("_", w.name, "_size")) || find(cat("_", w.name, "_length")))
      s.fail("stage.control", cat(text.text(), " writes to a strided view or a list of tensors"),
             "hand it whole tensors");
    for (const auto part : {"dim", "start", "end"})
      if (const Value* v = find(cat("_", w.name, "_slice_", part))) first.push_back(*v);
    return first.size() < 4 ? first[first.size() - 1] : s.call_op("aten", op, {std::move(first), {}})[0];
  };
  for (const Written& w : written) args.keywords.emplace_back(w.name, cut(w, "slice", {bases[w.base]}));
  std::vector<Type> types;  // what is written keeps its type
  for (size_t i = args.keywords.size() - written.size(); i < args.keywords.size(); ++i)
    types.push_back(args.keywords[i].second.is<TensorRef>()
                        ? s.graph[s.read(args.keywords[i].second.need<TensorRef>()).id].fact.type
                        : Type());
  const size_t results = outputs >= bases.size() ? outputs - bases.size() : 0;
  auto out = unsigned_call(*target, std::move(args), results + written.size());
  if (out.size() < results + written.size())
    return std::vector<Value>(
        outputs, !out.empty() && out[0].is<Poison>() ? out[0] : poison(cat(text.text(), " gives too few results")));
  for (size_t i = 0; i < written.size(); ++i) {
    Value& base = bases[written[i].base];
    if (const auto* t = out[results + i].as<TensorRef>(); t && is_foreign(s.read(*t)))
      s.graph.fact(s.read(*t)).type = types[i];
    const bool sliced = find(cat("_", written[i].name, "_slice_dim"));
    base = sliced ? cut(written[i], "slice_scatter", {base, out[results + i]}) : out[results + i];
  }
  out.resize(results);
  out.insert(out.end(), bases.begin(), bases.end());
  return out;
}

// with_effects(token, operator, arguments...): the token orders effects and means nothing here.
std::vector<Value> NodeInterpreter::with_effects(const HigherOrder& h) {
  const size_t outputs = h.node["outputs"].size();
  const auto [tag, text] = pt2::tagged(h.at(1));
  const auto target = tag == "as_operator" ? target_of(text.text()) : std::nullopt;
  if (!target) h.node.fail("an operator's name is expected here");
  if (is_dropped(target->op)) return std::vector<Value>(outputs);
  CallArgs args;
  for (size_t i = 2; i < h.positional.size(); ++i) args.positional.push_back(argument(h.positional[i], h.scope));
  auto out = unsigned_call(*target, std::move(args), outputs ? outputs - 1 : 0);
  out.insert(out.begin(), Value());
  return out;
}

}  // namespace cameo::staging
