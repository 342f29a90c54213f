#include "cameo/build.h"

#include <algorithm>

#include "api/model_file.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/text/print.h"

namespace cameo {

using namespace api;

namespace {

constexpr int64_t default_opset = 18;

std::string spelled(const Type& t) {
  if (!t.is_tensor()) return t.is_unknown() ? "?" : t.text();
  return cat(name(t.elem), t.shape ? cat("[", shape_text(*t.shape), "]") : "");
}

Type parse_type(std::string_view text, DimContext& dims) {
  const auto wrong = [&](std::string_view why) {
    return error("build.type", cat("'", text, "' is no type: ", why)).help("write it like f32[batch,3,224,224]");
  };
  const size_t open = text.find('[');
  const auto dtype = dtype_from_name(text.substr(0, open));
  if (!dtype) throw wrong("it begins with no element type");
  if (open == std::string_view::npos || text.back() != ']') throw wrong("its sizes are missing");
  Shape shape;
  auto rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end) depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    shape.push_back(parse_dim(dims, rest.substr(0, end)));
    if (shape.back().is_literal() && shape.back().literal() < 0) throw wrong("a size is negative");
    rest = rest.substr(std::min(end + 1, rest.size()));
  }
  return Type::tensor(*dtype, std::move(shape));
}

// An attribute as the operator's schema wants it: whole numbers serve as floats.
AttrValue converted(const Attribute::Value& v, AttrKind kind) {
  const auto floats = [](const auto& list) { return std::vector<float>(list.begin(), list.end()); };
  if (const auto* i = std::get_if<int64_t>(&v)) return kind == AttrKind::floating ? AttrValue(static_cast<float>(*i)) : AttrValue(*i);
  if (const auto* d = std::get_if<double>(&v)) return static_cast<float>(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&v)) return kind == AttrKind::floats ? AttrValue(floats(*list)) : AttrValue(*list);
  if (const auto* list = std::get_if<std::vector<double>>(&v)) return floats(*list);
  return std::get<std::vector<std::string>>(v);
}

std::shared_ptr<const void> attributes_of(const OpDef& op, const std::vector<Attribute>& given) {
  auto attrs = op.make();
  for (const Attribute& a : given) {
    const auto field = std::find_if(op.fields.begin(), op.fields.end(), [&](const AttrField& f) { return f.name == a.name; });
    if (field == op.fields.end()) throw error("build.attribute", cat(op.name, " has no attribute '", a.name, "'"));
    AttrValue v = converted(a.value, field->kind);
    if (kind_of(v) != field->kind) throw error("build.attribute", cat("attribute '", a.name, "' of ", op.name, " is ", name(field->kind), ", not ", name(kind_of(v))));
    field->set(attrs.get(), std::move(v));
  }
  for (const AttrField& f : op.fields) {
    const bool there = std::any_of(given.begin(), given.end(), [&](const Attribute& a) { return a.name == f.name; });
    if (f.required && !there) throw error("build.attribute", cat(op.name, " needs the attribute '", f.name, "'"));
  }
  return attrs;
}

}  // namespace

struct Builder::State {
  Model model;
  On on;
  State() : on(model.graph, model.graph.main()) {}
};

Builder::Builder(std::string name) : state_(std::make_unique<State>()) {
  state_->model.graph.region(state_->model.graph.main()).name = std::move(name);
  state_->model.producer_name = "cameo";
}
Builder::~Builder() = default;

std::string Var::type() const { return spelled(owner().state_->model.graph[ValueId(id_)].fact.type); }

Builder& Var::owner() const {
  if (!builder_) throw error("build.absent", "a value that holds nothing is used");
  return *builder_;
}

Var Builder::input(std::string name, std::string_view type) {
  Graph& g = state_->model.graph;
  return {this, g.add_input(g.main(), std::move(name), parse_type(type, g.dims())).index};
}

Var Builder::weight(std::string name, std::string_view dtype, std::vector<int64_t> shape, const void* bytes, size_t size) {
  const auto t = dtype_from_name(dtype);
  if (!t || *t == DType::string) throw error("build.weight", cat("weights cannot have the element type '", dtype, "'"));
  if (packed_bytes(*t, element_count(shape)) != size) throw error("build.weight", cat("the weight '", name, "' takes ", packed_bytes(*t, element_count(shape)), " bytes, not ", size));
  const auto* begin = static_cast<const std::byte*>(bytes);
  const Tensor tensor(*t, std::move(shape), Bytes::own(std::vector<std::byte>(begin, begin + size)));
  return {this, state_->model.graph.add_constant(tensor, std::move(name)).index};
}

Var Builder::weight(std::string name, std::vector<int64_t> shape, std::vector<float> values) {
  return weight(std::move(name), "f32", std::move(shape), values.data(), values.size() * sizeof(float));
}
Var Builder::weight(std::string name, std::vector<int64_t> shape, std::vector<int64_t> values) {
  return weight(std::move(name), "i64", std::move(shape), values.data(), values.size() * sizeof(int64_t));
}
Var Builder::ints(std::vector<int64_t> values) { return {this, state_->on.ints(values).index}; }
Var Builder::number(double v, Var like) { return {this, state_->on.number_like(v, ValueId(like.id_)).index}; }

Var Builder::op(std::string_view op_type, std::vector<Var> inputs, std::vector<Attribute> attributes) {
  return op_outputs(1, op_type, std::move(inputs), std::move(attributes)).front();
}

std::vector<Var> Builder::op_outputs(size_t outputs, std::string_view op_type, std::vector<Var> inputs, std::vector<Attribute> attributes) {
  std::vector<ValueId> operands;
  for (const Var v : inputs) {
    if (v.builder_ && v.builder_ != this) throw error("build.foreign", cat("an operand of ", op_type, " belongs to another graph"));
    operands.push_back(v ? ValueId(v.id_) : ValueId());
  }
  const size_t dot = op_type.rfind('.');
  const auto domain = dot == std::string_view::npos ? std::string_view() : op_type.substr(0, dot);
  const auto name = op_type.substr(dot == std::string_view::npos ? 0 : dot + 1);
  std::vector<ValueId> made;
  if (const OpDef* op = find_op(domain, name)) {
    if (!op->graph_attrs.empty()) throw error("build.body", cat(op_type, " has bodies, which this builder does not make")).help("write the model as text: docs/text-form.md");
    const SchemaVersion& schema = op->newest();
    if (operands.size() < schema.min_in || operands.size() > schema.max_in || outputs < schema.min_out || outputs > schema.max_out)
      throw error("build.arity", cat(op_type, " does not take ", operands.size(), " operands and give ", outputs, " outputs"));
    made = state_->on.emit(*op, attributes_of(*op, attributes), std::move(operands), outputs);
  } else if (domain.empty() || domain == "ai.onnx") {
    throw error("build.operator", cat("ONNX has no operator ", op_type));
  } else {
    Graph& g = state_->model.graph;
    const NodeId n = g.add_node(g.main(), opaque_op(domain, name), nullptr, std::move(operands), outputs);
    NamedAttrs extra;
    for (const Attribute& a : attributes) extra.push_back({a.name, converted(a.value, AttrKind::undefined)});
    if (!extra.empty()) g.set_extra(n, std::move(extra));
    state_->model.opsets.emplace(domain, 1);
    made = g[n].outputs;
  }
  std::vector<Var> out;
  for (const ValueId v : made) out.push_back(Var(this, v.index));
  return out;
}

void Builder::output(std::string name, Var value) {
  if (&value.owner() != this) throw error("build.foreign", cat("the output '", name, "' belongs to another graph"));
  Graph& g = state_->model.graph;
  ValueId v(value.id_);
  if (!g[v].name.empty() || g[v].kind != ir::Value::Kind::node_output) v = state_->on.Identity(v);
  g.rename(v, std::move(name));
  auto outputs = g[g.main()].outputs;
  outputs.push_back(v);
  g.set_region_outputs(g.main(), std::move(outputs));
}

std::string Builder::text() const { return print_text(state_->model); }

std::string Builder::bytes(int opset) const { return write_onnx(state_->model, {.opset = opset ? opset : default_opset}); }

void Builder::save(const std::string& path, int opset) const { save_model(state_->model, path, {.opset = opset ? opset : default_opset}); }

Var operator+(Var a, Var b) { return a.owner().op("Add", {a, b}); }
Var operator-(Var a, Var b) { return a.owner().op("Sub", {a, b}); }
Var operator*(Var a, Var b) { return a.owner().op("Mul", {a, b}); }
Var operator/(Var a, Var b) { return a.owner().op("Div", {a, b}); }
Var operator-(Var a) { return a.owner().op("Neg", {a}); }
Var operator+(Var a, double b) { return a + a.owner().number(b, a); }
Var operator-(Var a, double b) { return a - a.owner().number(b, a); }
Var operator*(Var a, double b) { return a * a.owner().number(b, a); }
Var operator/(Var a, double b) { return a / a.owner().number(b, a); }
Var operator+(double a, Var b) { return b.owner().number(a, b) + b; }
Var operator-(double a, Var b) { return b.owner().number(a, b) - b; }
Var operator*(double a, Var b) { return b.owner().number(a, b) * b; }
Var operator/(double a, Var b) { return b.owner().number(a, b) / b; }

}  // namespace cameo
