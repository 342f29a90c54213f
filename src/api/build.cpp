#include <algorithm>
#include <set>

#include "api/model_file.h"
#include "api/type_text.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "ops/text/print.h"

#include "api/state.h"
#include "cameo/build.h"
#include "cameo/export.h"

namespace cameo {

namespace {

const int64_t default_opset = ExportSettings().opset;

ir::Type parse_type(std::string_view text, ir::DimContext& dims) {
  const auto wrong = [&](std::string_view why) {
    return error("build.type", cat("'", text, "' is no type: ", why)).help("write it like f32[batch,3,224,224]");
  };
  const size_t open = text.find('[');
  const auto dtype = ir::dtype_from_name(text.substr(0, open));
  if (!dtype) throw wrong("it begins with no element type");
  if (open == std::string_view::npos || text.back() != ']') throw wrong("its sizes are missing");
  ir::Shape shape;
  auto rest = text.substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    size_t end = 0;
    for (int depth = 0; end < rest.size() && (depth > 0 || rest[end] != ','); ++end)
      depth += rest[end] == '(' ? 1 : rest[end] == ')' ? -1 : 0;
    shape.push_back(ir::parse_dim(dims, rest.substr(0, end)));
    if (shape.back().is_literal() && shape.back().literal() < 0) throw wrong("a size is negative");
    rest = rest.substr(std::min(end + 1, rest.size()));
  }
  return ir::Type::tensor(*dtype, std::move(shape));
}

// An attribute as the operator's schema wants it: whole numbers serve as floats.
ir::AttrValue converted(const Attribute::Content& v, ir::AttrKind kind) {
  const auto floats = [](const auto& list) { return std::vector<float>(list.begin(), list.end()); };
  if (const auto* i = std::get_if<int64_t>(&v))
    return kind == ir::AttrKind::floating ? ir::AttrValue(static_cast<float>(*i)) : ir::AttrValue(*i);
  if (const auto* d = std::get_if<double>(&v)) return static_cast<float>(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&v))
    return kind == ir::AttrKind::floats ? ir::AttrValue(floats(*list)) : ir::AttrValue(*list);
  if (const auto* list = std::get_if<std::vector<double>>(&v)) return floats(*list);
  if (const auto* a = std::get_if<Array>(&v)) return tensor_of(*a, "");
  return std::get<std::vector<std::string>>(v);
}

std::shared_ptr<const void> attributes_of(const ops::OpDef& op, const std::vector<Attribute>& given) {
  auto attrs = op.make();
  for (const Attribute& a : given) {
    const auto field =
        std::find_if(op.fields.begin(), op.fields.end(), [&](const ir::AttrField& f) { return f.name == a.name; });
    if (field == op.fields.end()) throw error("build.attribute", cat(op.name, " has no attribute '", a.name, "'"));
    ir::AttrValue v = converted(a.value, field->kind);
    if (ir::kind_of(v) != field->kind)
      throw error("build.attribute", cat("attribute '", a.name, "' of ", op.name, " is ", ir::name(field->kind),
                                         ", not ", ir::name(ir::kind_of(v))));
    field->set(attrs.get(), std::move(v));
  }
  for (const ir::AttrField& f : op.fields) {
    const bool there = std::any_of(given.begin(), given.end(), [&](const Attribute& a) { return a.name == f.name; });
    if (f.required && !there) throw error("build.attribute", cat(op.name, " needs the attribute '", f.name, "'"));
  }
  return attrs;
}

}  // namespace

struct Builder::State {
  ir::Model model;
  ops::On on;
  std::set<std::string> names;  // of inputs, weights and outputs
  State() : on(model.graph, model.graph.main()) {}

  void take_name(const std::string& name) {
    if (!names.insert(name).second) throw error("build.name", cat("the name '", name, "' is taken"));
  }
  // A region's outputs are values of its own, each once: others pass through an Identity.
  std::vector<support::ValueId> own(support::RegionId region, const std::vector<support::ValueId>& values) {
    std::vector<support::ValueId> out;
    for (const auto v : values) {
      const ir::Value& value = model.graph[v];
      const bool mine = value.home == region && value.kind == ir::Value::Kind::node_output &&
                        std::find(out.begin(), out.end(), v) == out.end();
      out.push_back(mine ? v : on.Identity(v));
    }
    return out;
  }
};

Builder::Builder(std::string name) : state_(std::make_unique<State>()) {
  state_->model.graph.region(state_->model.graph.main()).name = std::move(name);
  state_->model.producer_name = "cameo";
}
Builder::~Builder() = default;

std::string Var::type() const { return api::type_text(owner().state_->model.graph[support::ValueId(id_)].fact.type); }

Builder& Var::owner() const {
  if (!builder_) throw error("build.absent", "a value that holds nothing is used");
  return *builder_;
}

template <class Ids>
std::vector<Var> Builder::vars(const Ids& values) {
  std::vector<Var> out;
  for (const auto v : values) out.push_back(Var(this, v.index));
  return out;
}

Var Builder::input(std::string name, std::string_view type) {
  ir::Graph& g = state_->model.graph;
  if (state_->on.region() != g.main()) throw error("build.body", cat("the input '", name, "' is made in a body"));
  state_->take_name(name);
  return {this, g.add_input(g.main(), std::move(name), parse_type(type, g.dims())).index};
}

Var Builder::weight(std::string name, std::string_view dtype, std::vector<int64_t> shape, const void* bytes,
                    size_t size) {
  const auto t = ir::dtype_from_name(dtype);
  if (!t || *t == ir::DType::string)
    throw error("build.weight", cat("weights cannot have the element type '", dtype, "'"));
  if (ir::packed_bytes(*t, ir::element_count(shape)) != size)
    throw error("build.weight", cat("the weight '", name, "' takes ", ir::packed_bytes(*t, ir::element_count(shape)),
                                    " bytes, not ", size));
  state_->take_name(name);
  const auto* begin = static_cast<const std::byte*>(bytes);
  const ir::Tensor tensor(*t, std::move(shape), support::Bytes::own(std::vector<std::byte>(begin, begin + size)));
  return {this, state_->model.graph.add_constant(tensor, std::move(name)).index};
}

Var Builder::weight(std::string name, std::vector<int64_t> shape, std::vector<float> values) {
  return weight(std::move(name), "f32", std::move(shape), values.data(), values.size() * sizeof(float));
}
Var Builder::weight(std::string name, std::vector<int64_t> shape, std::vector<int64_t> values) {
  return weight(std::move(name), "i64", std::move(shape), values.data(), values.size() * sizeof(int64_t));
}
Var Builder::ints(std::vector<int64_t> values) { return {this, state_->on.ints(values).index}; }
Var Builder::number(double v, Var like) { return {this, state_->on.number_like(v, support::ValueId(like.id_)).index}; }

Var Builder::op(std::string_view op_type, std::vector<Var> inputs, std::vector<Attribute> attributes) {
  return op_outputs(1, op_type, std::move(inputs), std::move(attributes)).front();
}

std::vector<Var> Builder::op_outputs(size_t outputs, std::string_view op_type, std::vector<Var> inputs,
                                     std::vector<Attribute> attributes) {
  std::vector<support::ValueId> operands;
  for (const Var v : inputs) operands.push_back(support::ValueId(v ? checked(v, op_type) : support::ValueId::none));
  const size_t dot = op_type.rfind('.');
  const auto domain = dot == std::string_view::npos ? std::string_view() : op_type.substr(0, dot);
  const auto name = op_type.substr(dot == std::string_view::npos ? 0 : dot + 1);
  std::vector<support::ValueId> made;
  if (const ops::OpDef* op = ops::find_op(domain, name)) {
    if (!op->graph_attrs.empty())
      throw error("build.body", cat(op_type, " has bodies"))
          .help("if_else and loop make them; others as text: docs/text-form.md");
    const ops::SchemaVersion& schema = op->newest();
    if (operands.size() < schema.min_in || operands.size() > schema.max_in || outputs < schema.min_out ||
        outputs > schema.max_out)
      throw error("build.arity",
                  cat(op_type, " does not take ", operands.size(), " operands and give ", outputs, " outputs"));
    made = state_->on.emit(*op, attributes_of(*op, attributes), std::move(operands), outputs);
  } else if (domain.empty() || domain == "ai.onnx") {
    throw error("build.operator", cat("ONNX has no operator ", op_type));
  } else {
    ir::Graph& g = state_->model.graph;
    const support::NodeId n =
        g.add_node(state_->on.region(), ir::opaque_op(domain, name), nullptr, std::move(operands), outputs);
    ir::NamedAttrs extra;
    for (const Attribute& a : attributes) extra.push_back({a.name, converted(a.value, ir::AttrKind::undefined)});
    if (!extra.empty()) g.set_extra(n, std::move(extra));
    state_->model.opsets.emplace(domain, 1);
    made = g[n].outputs;
  }
  return vars(made);
}

// The value's number, if it can be used here.
uint32_t Builder::checked(Var v, std::string_view by) const {
  if (v.builder_ != this)
    throw error(v.builder_ ? "build.foreign" : "build.absent",
                cat("an operand of ", by, v.builder_ ? " belongs to another graph" : " holds nothing"));
  const ir::Graph& g = state_->model.graph;
  if (!g.is_inside(state_->on.region(), g[support::ValueId(v.id_)].home))
    throw error("build.body", cat("an operand of ", by, " belongs to a body that this is not part of"));
  return v.id_;
}

void Builder::set_type(Var value, std::string_view type) {
  ir::Graph& g = state_->model.graph;
  const support::ValueId v(checked(value, "set_type"));
  const ir::Type wanted = parse_type(type, g.dims());
  auto merged = ir::merge(g[v].fact.type, wanted);
  if (!merged) throw error("build.type", cat("a value of type ", api::type_text(g[v].fact.type), " cannot be ", type));
  g.fact(v).type = std::move(*merged);
}

std::vector<Var> Builder::if_else(Var condition, const Body& then, const Body& otherwise) {
  ir::Graph& g = state_->model.graph;
  const support::ValueId c(checked(condition, "if_else"));
  const support::RegionId outer = state_->on.region();
  const support::NodeId node = g.add_node(outer, ops::op_of<op::If>(), nullptr, {c}, 0);
  size_t count = 0;
  for (const size_t side : {1, 0}) {  // graph attributes are else_branch, then_branch
    const support::RegionId region = g.add_region(outer);
    g.set_region(node, side, region);
    state_->on.move_to(region);
    std::vector<support::ValueId> results;
    for (const Var v : (side == 1 ? then : otherwise)()) results.push_back(support::ValueId(checked(v, "if_else")));
    if (side == 0 && results.size() != count)
      throw error("build.arity", cat("one side gives ", count, " values, the other ", results.size()));
    count = results.size();
    g.set_region_outputs(region, state_->own(region, results));
    g.region(region).name = side == 1 ? "then" : "else";
    state_->on.move_to(outer);
  }
  for (size_t i = 0; i < count; ++i) g.add_output(node);
  ops::infer_node(g, node);
  return vars(g[node].outputs);
}

std::vector<Var> Builder::loop(Var count, Var condition, const std::vector<Var>& carried, const LoopBody& body) {
  ir::Graph& g = state_->model.graph;
  const support::RegionId outer = state_->on.region();
  const auto optional = [&](Var v) { return support::ValueId(v ? checked(v, "loop") : support::ValueId::none); };
  std::vector<support::ValueId> inputs{optional(count), optional(condition)};
  for (const Var v : carried) inputs.push_back(support::ValueId(checked(v, "loop")));
  const support::NodeId node = g.add_node(outer, ops::op_of<op::Loop>(), nullptr, inputs, 0);
  const support::RegionId region = g.add_region(outer);
  g.set_region(node, 0, region);
  g.region(region).name = "body";
  const support::ValueId counter = g.add_input(region, "", ir::Type::tensor(ir::DType::i64, {}));
  const support::ValueId going = g.add_input(region, "", ir::Type::tensor(ir::DType::boolean, {}));
  std::vector<Var> inside;
  for (size_t i = 2; i < inputs.size(); ++i)
    inside.push_back(Var(this, g.add_input(region, "", g[inputs[i]].fact.type).index));
  state_->on.move_to(region);
  const Turn turn = body(Var(this, counter.index), inside);
  if (turn.carried.size() != carried.size())
    throw error("build.arity",
                cat("the loop carries ", carried.size(), " values, and its body gives ", turn.carried.size()));
  std::vector<support::ValueId> results{turn.go_on ? support::ValueId(checked(turn.go_on, "loop")) : going};
  for (const auto* list : {&turn.carried, &turn.gathered})
    for (const Var v : *list) results.push_back(support::ValueId(checked(v, "loop")));
  g.set_region_outputs(region, state_->own(region, results));
  state_->on.move_to(outer);
  for (size_t i = 1; i < results.size(); ++i) g.add_output(node);
  ops::infer_node(g, node);
  return vars(g[node].outputs);
}

void Builder::output(std::string name, Var value) {
  ir::Graph& g = state_->model.graph;
  support::ValueId v(checked(value, cat("the output '", name, "'")));
  state_->take_name(name);
  if (!g[v].name.empty() || g[v].kind != ir::Value::Kind::node_output) v = state_->on.Identity(v);
  g.rename(v, std::move(name));
  auto outputs = g[g.main()].outputs;
  outputs.push_back(v);
  g.set_region_outputs(g.main(), std::move(outputs));
}

std::string Builder::text() const { return ops::print_text(state_->model); }

Model Builder::model(int opset) const {
  ModelState s;
  s.model = state_->model;
  s.opset = known_opset(opset ? opset : default_opset);
  return ModelState::make(std::move(s));
}

std::string Builder::bytes(int opset) const { return model(opset).bytes(); }

void Builder::save(const std::string& path, int opset) const { model(opset).save(path); }

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
