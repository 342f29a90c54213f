#include "property/node_damage.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include "formats/json.h"
#include "formats/mapped_file.h"
#include "frontends/onnx/datum.h"
#include "frontends/onnx/reader.h"
#include "frontends/text/parse.h"
#include "kernels/move.h"
#include "ops/op_def.h"
#include "backends/text/print.h"
#include "runtime/inputs.h"
#include "support/error.h"

namespace cameo::tests {

namespace {

namespace fs = std::filesystem;

// What the node cases lack.
struct TextCall {
  const char *op, *text;
};
constexpr TextCall text_calls[] = {
#include "property/node_calls.inc"
};

constexpr int64_t least = std::numeric_limits<int64_t>::min(), most = std::numeric_limits<int64_t>::max();

// Large numbers are so large that no memory holds what they ask for: sizes between would only be slow.
int64_t hostile_int(Sampler& s, int64_t was) {
  return s.pick<int64_t>({0, 1, -1, 2, -2, 3, 7, was + 1, was - 1, -was, 31, -32, 1000, most, least, most - 1,
                          least + 1, int64_t{1} << 40, -(int64_t{1} << 40)});
}

int64_t safe_hostile_int(Sampler& s, int64_t was) {
  return was > most - 2 || was < least + 2 ? 0 : hostile_int(s, was);
}

float hostile_float(Sampler& s) {
  return s.pick<float>({0, -0.0f, 1, -1, 0.5f, 1e30f, -1e30f, 1e-40f, std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN()});
}

// The elements of `t` over and over in another shape.
Tensor resized(const Tensor& t, std::vector<int64_t> shape) {
  std::vector<int64_t> places(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < places.size(); ++i) places[i] = t.count() ? static_cast<int64_t>(i) % t.count() : -1;
  return take(t, std::move(shape), places);
}

std::vector<int64_t> other_shape(std::vector<int64_t> shape, Sampler& s) {
  const auto place = [&](size_t n) { return s.between(0, static_cast<int64_t>(n)); };
  switch (s.between(0, 9)) {
    case 0: return {};
    case 1: return {s.between(0, 5)};
    case 2: shape.insert(shape.begin() + place(shape.size()), s.between(0, 2)); return shape;
    case 3: shape.resize(30, 1); return shape;
    case 4:
      if (!shape.empty()) shape.erase(shape.begin() + place(shape.size() - 1));
      return shape;
    default: break;
  }
  if (shape.empty()) return {1};
  int64_t& size = shape[static_cast<size_t>(place(shape.size() - 1))];
  size = s.pick<int64_t>({0, 1, 2, 3, size + 1, std::max<int64_t>(size - 1, 0), size * 2});
  return element_count(shape) > 1 << 20 ? std::vector<int64_t>{3} : shape;
}

Tensor other_contents(const Tensor& t, Sampler& s) {
  if (t.count() == 0 || t.count() > 1 << 16 || is_complex(t.dtype())) return t;
  const auto at = static_cast<size_t>(s.between(0, t.count() - 1));
  const bool all = s.chance(20);
  if (t.dtype() == DType::string) {
    auto words = t.strings();
    const auto word = s.pick<std::string>({"", "\xff\xfe", "(((((", "a{1,100000}", std::string(1, '\0'), "-1e999"});
    for (size_t i = 0; i < words.size(); ++i)
      if (all || i == at) words[i] = word;
    return {t.shape(), words};
  }
  if (is_float(t.dtype())) {
    auto values = t.to_doubles();
    const double value = hostile_float(s);
    for (size_t i = 0; i < values.size(); ++i)
      if (all || i == at) values[i] = value;
    return store(t.dtype(), t.shape(), values);
  }
  std::vector<int64_t> values(static_cast<size_t>(t.count()));
  const Loaded<int64_t> was(t);
  std::copy(was.span().begin(), was.span().end(), values.begin());
  const int64_t value = safe_hostile_int(s, values[at]);
  for (size_t i = 0; i < values.size(); ++i)
    if (all || i == at) values[i] = value;
  return store(t.dtype(), t.shape(), values);
}

Tensor other_type(const Tensor& t, Sampler& s) {
  const DType to = all_dtypes()[static_cast<size_t>(s.between(1, dtype_count - 1))].dtype;
  if (to == DType::string || is_complex(to) || t.dtype() == DType::string || is_complex(t.dtype()))
    return zeros(to, t.shape());
  return convert(t, to);
}

Tensor other_tensor(const Tensor& t, Sampler& s) {
  const int64_t how = s.between(0, 9);
  if (how < 5) return resized(t, other_shape(t.shape(), s));
  return how < 8 ? other_contents(t, s) : other_type(t, s);
}

void damage_datum(Datum& d, Sampler& s) {
  if (d.kind == Datum::Kind::tensor) {
    d.tensor = other_tensor(d.tensor, s);
    return;
  }
  if (d.kind == Datum::Kind::sequence) {
    auto items = *d.items;
    if (items.empty() || s.chance(20))
      items.emplace_back(zeros(s.pick<DType>({DType::f32, DType::i64, DType::string}), s.shape()));
    else if (s.chance(20)) items.pop_back();
    else damage_datum(items[static_cast<size_t>(s.between(0, static_cast<int64_t>(items.size()) - 1))], s);
    d = Datum::sequence(std::move(items));
    return;
  }
  if (d.kind == Datum::Kind::map) {
    auto entries = *d.entries;
    if (!entries.empty() && s.chance(50)) entries.pop_back();
    else if (!entries.empty()) damage_datum(entries.front().second, s);
    d = Datum::map(std::move(entries));
    return;
  }
  if (s.chance(50)) d = Datum(zeros(DType::f32, s.shape()));
}

template <class T, class F>
std::vector<T> other_list(std::vector<T> list, Sampler& s, F element) {
  const int64_t how = s.between(0, 9);
  if (how == 0) return {};
  if (how == 1 || list.empty()) list.push_back(element(T{}));
  else if (how == 2) list.pop_back();
  else {
    T& one = list[static_cast<size_t>(s.between(0, static_cast<int64_t>(list.size()) - 1))];
    one = element(one);
  }
  return list;
}

std::string other_word(Sampler& s) {
  return s.pick<std::string>(
      {"", "x", "LEFT", "reflect", "linear", "SAME_UPPER", "VALID", "bidirectional", "DCR", "...", "i,i->", "\xff"});
}

// For attributes that are absent: something of their kind.
AttrValue some_value(AttrKind kind, Sampler& s) {
  switch (kind) {
    case AttrKind::integer: return safe_hostile_int(s, 1);
    case AttrKind::floating: return hostile_float(s);
    case AttrKind::string: return other_word(s);
    case AttrKind::ints: return std::vector<int64_t>(static_cast<size_t>(s.between(0, 4)), safe_hostile_int(s, 1));
    case AttrKind::floats: return std::vector<float>(static_cast<size_t>(s.between(0, 4)), hostile_float(s));
    case AttrKind::strings: return std::vector<std::string>(static_cast<size_t>(s.between(0, 4)), other_word(s));
    case AttrKind::tensor: return zeros(s.pick<DType>({DType::f32, DType::i64, DType::string, DType::u8}), s.shape());
    default: return {};
  }
}

AttrValue other_value(AttrValue v, AttrKind kind, Sampler& s) {
  if (auto* i = std::get_if<int64_t>(&v)) return safe_hostile_int(s, *i);
  if (std::holds_alternative<float>(v)) return hostile_float(s);
  if (std::holds_alternative<std::string>(v)) return other_word(s);
  if (auto* t = std::get_if<Tensor>(&v)) return other_tensor(*t, s);
  if (auto* list = std::get_if<std::vector<int64_t>>(&v))
    return other_list(std::move(*list), s, [&](int64_t was) { return safe_hostile_int(s, was); });
  if (auto* list = std::get_if<std::vector<float>>(&v))
    return other_list(std::move(*list), s, [&](float) { return hostile_float(s); });
  if (auto* list = std::get_if<std::vector<std::string>>(&v))
    return other_list(std::move(*list), s, [&](const std::string&) { return other_word(s); });
  if (auto* sparse = std::get_if<SparseTensor>(&v)) {
    if (s.chance(30))
      sparse->shape = other_list(std::move(sparse->shape), s, [&](int64_t was) { return safe_hostile_int(s, was); });
    else if (s.chance(50)) sparse->indices = other_tensor(sparse->indices, s);
    else sparse->values = other_tensor(sparse->values, s);
    return v;
  }
  return some_value(kind, s);
}

void damage_attribute(Graph& g, NodeId n, Sampler& s) {
  const OpInfo& op = *g[n].op;
  if (op.fields.empty()) return;
  const auto which = static_cast<size_t>(s.between(0, static_cast<int64_t>(op.fields.size()) - 1));
  auto attrs = op.make();
  for (size_t i = 0; i < op.fields.size(); ++i) {
    const AttrField& f = op.fields[i];
    AttrValue v = f.get(g[n].attrs.get());
    if (i == which) v = f.required || s.chance(80) ? other_value(std::move(v), f.kind, s) : AttrValue();
    if (v.index() != 0) f.set(attrs.get(), std::move(v));
  }
  g.set_attrs(n, std::move(attrs));
}

void damage_arity(Graph& g, NodeId n, Sampler& s) {
  auto inputs = g[n].inputs;
  const auto any = [&] { return static_cast<size_t>(s.between(0, static_cast<int64_t>(inputs.size()) - 1)); };
  const int64_t how = s.between(0, 6);
  if (how == 0) g.add_output(n);
  else if (how == 1 && !g[n].outputs.empty() && !g.used(g[n].outputs.back())) g.drop_last_output(n);
  else if (inputs.empty()) return;
  else if (how == 2) inputs[any()] = {};
  else if (how == 3) inputs.pop_back();
  else if (how == 4) inputs.push_back(inputs[any()]);
  else if (how == 5) std::swap(inputs[any()], inputs[any()]);
  else inputs[any()] = inputs[any()];
  g.set_inputs(n, std::move(inputs));
}

// The node anew, with its other bodies.
void without_body(Graph& g, NodeId n, size_t gone) {
  const Node old = g[n];
  const NodeId made = g.add_node(old.home, *old.op, old.attrs, old.inputs, old.outputs.size(), n);
  for (size_t i = 0; i < old.regions.size(); ++i)
    if (i != gone && old.regions[i]) g.set_region(made, i, old.regions[i]);
  for (size_t i = 0; i < old.outputs.size(); ++i) g.replace_uses(old.outputs[i], g[made].outputs[i]);
}

void damage_body(Graph& g, NodeId n, Sampler& s) {
  const auto i = static_cast<size_t>(s.between(0, static_cast<int64_t>(g[n].regions.size()) - 1));
  const RegionId body = g[n].regions[i];
  if (!body) return;
  auto outputs = g[body].outputs;
  const int64_t how = s.between(0, 4);
  if (how == 0) return without_body(g, n, i);
  else if (how == 1 && !outputs.empty()) outputs.pop_back();
  else if (how == 2 && !outputs.empty()) outputs.push_back(outputs.front());
  else if (how == 3) g.add_input(body, "extra", Type::tensor(DType::f32));
  else if (!g[body].inputs.empty() && !outputs.empty()) outputs.back() = g[body].inputs.front();
  g.set_region_outputs(body, std::move(outputs));
}

Type type_of(const Datum& d, const Type& declared) {
  if (d.kind == Datum::Kind::tensor) {
    Type t = Type::tensor(d.tensor.dtype(), Shape(d.tensor.shape().begin(), d.tensor.shape().end()));
    return declared.is_optional() ? Type::optional(std::move(t)) : t;
  }
  if (d.kind == Datum::Kind::sequence && !d.items->empty() && d.items->front().kind == Datum::Kind::tensor &&
      declared.is_sequence())
    return Type::sequence(Type::tensor(d.items->front().tensor.dtype()));
  return declared;
}

std::vector<Datum> recorded_inputs(const fs::path& folder, const Graph& g) {
  std::vector<Datum> out;
  for (const ValueId v : g[g.main()].inputs) {
    const fs::path file = folder / cat("input_", out.size(), ".pb");
    if (!fs::exists(file)) break;
    out.push_back(read_datum(map_file(file.string()), g[v].fact.type, file.string()));
  }
  return out;
}

Call node_case(const fs::path& folder) {
  DiagSink sink;
  Call call{folder.filename().string(), read_onnx((folder / "model.onnx").string(), sink), {}};
  call.inputs = recorded_inputs(folder / "test_data_set_0", call.model.graph);
  return call;
}

Call text_call(const TextCall& from) {
  DiagSink sink;
  Call call{cat("text of ", from.op), parse_text(from.text, from.op, sink), {}};
  call.inputs = random_inputs(call.model.graph, call.model.graph[call.model.graph.main()].inputs, 1);
  return call;
}

}  // namespace

std::vector<std::pair<std::string, Call>> valid_calls(const std::string& folder) {
  std::vector<std::pair<std::string, Call>> out;
  const auto add = [&](Call call) {
    std::set<std::string> ops;
    for (const NodeId n : call.model.graph.nodes(call.model.graph.main())) ops.emplace(call.model.graph[n].op->name);
    if (call.model.functions.empty())
      for (const std::string& op : ops) out.emplace_back(op, call);
  };
  for (const TextCall& each : text_calls) add(text_call(each));
  if (folder.empty()) return out;
  const json::Document index(map_file((fs::path(folder) / "index.json").string()), "index.json");
  for (const auto& [name, about] : index.root().members())
    if (name.find("_expanded") == name.npos) add(node_case(fs::path(folder) / std::string(name)));
  return out;
}

void damage(Call& call, std::string_view op, Sampler& s) {
  Graph& g = call.model.graph;
  std::vector<NodeId> nodes;
  for (const NodeId n : g.nodes(g.main()))
    if (g[n].op->name == op && !g[n].op->is_opaque()) nodes.push_back(n);
  if (nodes.empty()) return;
  const NodeId n = s.pick(nodes);
  const int64_t how = s.between(0, 9);
  if (how < 3) damage_attribute(g, n, s);
  else if (how < 4) damage_arity(g, n, s);
  else if (how < 6 && !g[n].regions.empty()) damage_body(g, n, s);
  else if (!call.inputs.empty())
    damage_datum(call.inputs[static_cast<size_t>(s.between(0, static_cast<int64_t>(call.inputs.size()) - 1))], s);
}

void declare_inputs(Call& call, bool open) {
  Graph& g = call.model.graph;
  for (uint32_t i = 0; i < g.value_capacity(); ++i)
    if (g[ValueId(i)].kind == Value::Kind::node_output) g.fact(ValueId(i)) = {};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    Fact& f = g.fact(g[g.main()].inputs[i]);
    f.type = type_of(call.inputs[i], f.type);
    f.contents.reset();
    if (!open || !f.type.is_tensor()) continue;
    for (size_t axis = 0; axis < f.type.shape->size(); ++axis)
      (*f.type.shape)[axis] = g.dims().symbol(cat("i", i, "_", axis));
  }
}

void freeze_some_inputs(Call& call, Sampler& s) {
  Graph& g = call.model.graph;
  for (size_t i = call.inputs.size(); i-- > 0;) {
    const ValueId v = g[g.main()].inputs[i];
    if (call.inputs[i].kind != Datum::Kind::tensor || g[v].fact.type.is_optional() || !s.chance(40)) continue;
    g.replace_uses(v, g.add_constant(call.inputs[i].tensor, cat("frozen", i)));
    g.remove_region_input(g.main(), i);
    call.inputs.erase(call.inputs.begin() + static_cast<int64_t>(i));
  }
}

std::string describe(const Call& call) {
  return cat(call.name, ":", describe_operands(call.inputs), "\n", print_text(call.model, {}));
}

}  // namespace cameo::tests
