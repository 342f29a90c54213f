// NodeBuilder of include/cameo/build.h: operators with their attributes, types, values.
#include <algorithm>
#include <cmath>

#include "api/type_text.h"
#include "frontends/text/parse.h"
#include "ir/clone.h"
#include "ir/dtype_words.h"
#include "ops/infer.h"
#include "ops/linger/grids.h"
#include "ops/operator_name.h"
#include "ops/schema_check.h"
#include "ops/schema.h"
#include "support/number_text.h"

#include "api/node_builder.h"

namespace cameo {

namespace {

using ir::AttrKind;
using support::NodeId;
using support::ValueId;

// Numbers and lists of numbers, from one kind of number to the other; a single number is a list of one.
template <class To, class From>
std::optional<std::vector<To>> numbers(const std::vector<From>& list) {
  std::vector<To> out;
  for (const From v : list) {
    if constexpr (std::is_same_v<To, int64_t> && std::is_floating_point_v<From>)
      if (v != std::trunc(v) || std::fabs(v) > 1e15) return std::nullopt;
    out.push_back(static_cast<To>(v));
  }
  return out;
}

template <class From>
std::optional<ir::AttrValue> as_kind(const std::vector<From>& list, bool one, AttrKind kind) {
  if (list.empty() && kind == AttrKind::strings) return std::vector<std::string>();
  if (!one && (kind == AttrKind::integer || kind == AttrKind::floating)) return std::nullopt;
  if (kind == AttrKind::integer || kind == AttrKind::ints) {
    auto ints = numbers<int64_t>(list);
    if (!ints) return std::nullopt;
    return kind == AttrKind::ints ? ir::AttrValue(std::move(*ints)) : ir::AttrValue(ints->front());
  }
  if (kind != AttrKind::floating && kind != AttrKind::floats) return std::nullopt;
  auto floats = numbers<float>(list);
  return kind == AttrKind::floats ? ir::AttrValue(std::move(*floats)) : ir::AttrValue(floats->front());
}

// An attribute as it was given.
ir::AttrValue plain(const Attribute::Content& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return *i;
  if (const auto* d = std::get_if<double>(&v)) return static_cast<float>(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return *s;
  if (const auto* list = std::get_if<std::vector<int64_t>>(&v)) return *list;
  if (const auto* list = std::get_if<std::vector<double>>(&v)) return *numbers<float>(*list);
  if (const auto* a = std::get_if<Array>(&v)) return tensor_of(*a, "");
  return std::get<std::vector<std::string>>(v);
}

// The same as the operator's schema wants it: whole numbers serve as floats and the other way round.
ir::AttrValue converted(const Attribute::Content& v, AttrKind kind) {
  std::optional<ir::AttrValue> out;
  if (const auto* i = std::get_if<int64_t>(&v)) out = as_kind(std::vector{*i}, true, kind);
  else if (const auto* d = std::get_if<double>(&v)) out = as_kind(std::vector{*d}, true, kind);
  else if (const auto* is = std::get_if<std::vector<int64_t>>(&v)) out = as_kind(*is, false, kind);
  else if (const auto* ds = std::get_if<std::vector<double>>(&v)) out = as_kind(*ds, false, kind);
  else if (const auto* s = std::get_if<std::string>(&v); s && kind == AttrKind::strings) out = std::vector{*s};
  return out ? std::move(*out) : plain(v);
}

void need_different(std::string_view op, const std::vector<Attribute>& given) {
  for (size_t i = 1; i < given.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (given[i].name == given[k].name)
        throw error("build.attribute", cat("the attribute '", given[i].name, "' of ", op, " is given twice"));
}

std::shared_ptr<const void> attributes_of(const ops::OpDef& op, const std::vector<Attribute>& given) {
  auto attrs = op.make();
  need_different(op.name, given);
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

// An operator as a file of an older opset has it, in the text form: read as any file is, and so brought up to date.
std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string attribute_text(const Attribute& a) {
  const ir::AttrValue v = plain(a.value);
  const auto list = [](const auto& items, auto text) {
    std::string out = "[";
    for (const auto& i : items) out += cat(out.size() > 1 ? ", " : "", text(i));
    return out + "]";
  };
  const auto number = [](int64_t i) { return cat(i); };
  if (const auto* i = std::get_if<int64_t>(&v)) return number(*i);
  if (const auto* f = std::get_if<float>(&v)) return support::fraction_text(*f);
  if (const auto* s = std::get_if<std::string>(&v)) return quoted(*s);
  if (const auto* is = std::get_if<std::vector<int64_t>>(&v)) return list(*is, number);
  if (const auto* fs = std::get_if<std::vector<float>>(&v)) return list(*fs, support::fraction_text);
  if (const auto* ss = std::get_if<std::vector<std::string>>(&v)) return list(*ss, quoted);
  throw error("build.attribute", cat("the attribute '", a.name,
                                     "' is a tensor, which operators of older opsets take as"
                                     " an input only"));
}

std::vector<ValueId> emit_old(NodeBuilderState& s, std::string_view op, const std::vector<ValueId>& inputs,
                              const std::vector<Attribute>& attributes, size_t outputs, int opset) {
  std::string formals, operands, results, list;
  std::vector<ValueId> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands += cat(i ? ", " : "", inputs[i] ? cat("in", i) : "\"\"");
    if (!inputs[i]) continue;
    formals += cat(formals.empty() ? "" : ", ", "in", i);
    given.push_back(inputs[i]);
  }
  for (size_t i = 0; i < outputs; ++i) results += cat(i ? ", " : "", "out", i);
  for (const Attribute& a : attributes) list += cat(list.empty() ? "" : ", ", a.name, " = ", attribute_text(a));
  support::DiagSink diags;
  const std::string text =
      cat("<domain: \"host\", opset_import: [\"\" : ", opset, "]> f (", formals, ") => (", results, ") { ", results,
          " = ", op, list.empty() ? "" : cat("<", list, ">"), " (", operands, ") }");
  const ir::Model m = frontends::parse_functions(text, cat(op, " of opset ", opset), opset, diags);
  ir::CloneOptions how;
  how.keep_names = false;
  const uint32_t first = s.graph.node_capacity();
  auto out = ir::clone_body(m.graph, m.functions.at(0).body, s.graph, given, s.on.region(), {}, how);
  for (uint32_t i = first; i < s.graph.node_capacity(); ++i) {
    if (s.graph[NodeId(i)].home == s.on.region()) ops::infer_node(s.graph, NodeId(i));
    if (s.added) s.added(NodeId(i));
  }
  return out;
}

// Whether a number is a value of the element type, perhaps rounded.
bool holds(ir::DType t, double v) {
  if (t == ir::DType::string) return false;
  if (t == ir::DType::boolean) return v == 0 || v == 1;
  if (!ir::is_int(t)) return true;
  const double largest = std::ldexp(1.0, ir::bits(t) - (ir::is_signed_int(t) ? 1 : 0));
  return v == std::trunc(v) && v < largest && v >= (ir::is_signed_int(t) ? -largest : 0);
}

bool changed_since(const ops::OpDef& op, int64_t opset) {
  for (const ops::Revision& r : op.rules.revisions)
    if (r.version > opset && r.up) return true;
  return op.newest().since > opset && op.at(opset) == nullptr;
}

std::vector<ValueId> emit_foreign(NodeBuilderState& s, std::string_view domain, std::string_view op,
                                  std::vector<ValueId> inputs, const std::vector<Attribute>& attributes,
                                  size_t outputs) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  const NodeId n = s.graph.add_node(s.on.region(), ir::opaque_op(domain, op), nullptr, std::move(inputs), outputs);
  need_different(op, attributes);
  ir::NamedAttrs extra;
  for (const Attribute& a : attributes) extra.push_back({a.name, plain(a.value)});
  if (!extra.empty()) s.graph.set_extra(n, std::move(extra));
  if (s.uses_domain) s.uses_domain(domain);
  if (s.added) s.added(n);
  return s.graph[n].outputs;
}

void need_count(std::string_view op, std::string_view verb, std::string_view what, size_t count, size_t least,
                size_t most) {
  constexpr size_t unbounded = 1000;
  if (count >= least && count <= most) return;
  const std::string wanted = most >= unbounded ? cat("at least ", least)
                             : least == most   ? cat(least)
                                               : cat(least, " to ", most);
  throw error("build.arity", cat(op, " ", verb, " ", wanted, " ", what, wanted == "1" ? "" : "s", ", not ", count));
}

// A node that is refused leaves nothing behind.
class Undone {
 public:
  explicit Undone(ir::Graph& g) : graph_(g), mark_(g.mark()) {}
  ~Undone() {
    if (!kept_) graph_.rollback(mark_);
  }
  Undone(const Undone&) = delete;
  void keep() { kept_ = true; }

 private:
  ir::Graph& graph_;
  ir::GraphMark mark_;
  bool kept_ = false;
};

std::vector<ValueId> emit_known(NodeBuilderState& s, const ops::OpDef& op, std::string_view op_type,
                                std::vector<ValueId> inputs, const std::vector<Attribute>& attributes, size_t outputs) {
  if (!op.graph_attrs.empty())
    throw error("build.body", cat(op_type, " has bodies"))
        .help("if_else and loop make them; others as text: docs/text-form.md");
  const ops::SchemaVersion& schema = op.newest();
  need_count(op_type, "takes", "input", inputs.size(), schema.min_in, schema.max_in);
  need_count(op_type, "gives", "output", outputs, schema.min_out, schema.max_out);
  auto attrs = attributes_of(op, attributes);
  if (s.staged) return s.on.emit(op, std::move(attrs), std::move(inputs), outputs);
  Undone undone(s.graph);
  auto made = s.on.emit(op, std::move(attrs), std::move(inputs), outputs);
  if (!made.empty()) need_operands(s.graph, s.graph[made[0]].def);
  undone.keep();
  return made;
}

}  // namespace

void need_operands(const ir::Graph& g, NodeId n) {
  if (auto wrong = ops::node_findings(g, n); !wrong.empty()) throw Error(std::move(wrong));
}

namespace {

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

// Where a list at `rest` has its next comma, outside of brackets and of names such as 'a,b'.
size_t next_comma(std::string_view rest) {
  size_t end = 0;
  bool quoted = false;
  for (int depth = 0; end < rest.size() && (depth > 0 || quoted || rest[end] != ','); ++end) {
    quoted ^= rest[end] == '\'';
    if (!quoted) depth += rest[end] == '(' || rest[end] == '[' ? 1 : rest[end] == ')' || rest[end] == ']' ? -1 : 0;
  }
  return end;
}

class TypeReader {
 public:
  TypeReader(std::string_view text, ir::DimContext& dims) : whole_(text), dims_(dims) {}
  ir::Type read(std::string_view text, int depth = 0) {
    text = trimmed(text);
    constexpr int deepest = 16;
    if (depth > deepest) throw wrong("it is too deep");
    if (const auto inner = inside(text, "seq(")) return ir::Type::sequence(read(*inner, depth + 1));
    if (const auto inner = inside(text, "optional(")) return ir::Type::optional(read(*inner, depth + 1));
    if (const auto inner = inside(text, "map(")) {
      const size_t comma = next_comma(*inner);
      const auto key = ir::dtype_from_name(trimmed(inner->substr(0, comma)));
      if (!key || comma == inner->size()) throw wrong("a map has the element type of its keys and a type");
      return ir::Type::map(*key, read(inner->substr(comma + 1), depth + 1));
    }
    return tensor(text);
  }

 private:
  static std::optional<std::string_view> inside(std::string_view text, std::string_view head) {
    if (!text.starts_with(head) || !text.ends_with(')')) return std::nullopt;
    return text.substr(head.size(), text.size() - head.size() - 1);
  }
  Error wrong(std::string_view why) const {
    return error("build.type", cat("'", whole_, "' is not a type: ", why))
        .help("write it like f32[batch,3,224,224] or seq(f32[n,4])");
  }
  ir::Type tensor(std::string_view text) {
    const size_t open = text.find('[');
    const std::string_view element = trimmed(text.substr(0, open));
    const auto dtype = ir::dtype_from_name(element);
    const std::string_view ours = ir::dtype_in_our_words(element);
    if (!dtype) throw wrong(ours.empty() ? "it begins with no element type" : cat(element, " is written ", ours));
    if (open == std::string_view::npos || text.back() != ']') throw wrong("its sizes are missing");
    if (text.substr(open) == "[...]") return ir::Type::tensor(*dtype);
    ir::Shape shape;
    auto rest = text.substr(open + 1, text.size() - open - 2);
    while (!rest.empty()) {
      const size_t end = next_comma(rest);
      shape.push_back(size(trimmed(rest.substr(0, end))));
      rest = rest.substr(std::min(end + 1, rest.size()));
    }
    return ir::Type::tensor(*dtype, std::move(shape));
  }
  ir::Dim size(std::string_view text) {
    if (text.empty()) throw wrong("a size is missing");
    if (text == "?") return dims_.fresh();
    try {
      const ir::Dim d = ir::parse_dim(dims_, text);
      if (d.is_literal() && d.literal() < 0) throw wrong("a size is negative");
      return d;
    } catch (const Error& e) {
      if (e.diag().code == "build.type") throw;
      throw wrong(e.diag().what);
    }
  }
  std::string_view whole_;
  ir::DimContext& dims_;
};

}  // namespace

ir::Type parse_type(std::string_view text, ir::DimContext& dims) { return TypeReader(text, dims).read(text); }

std::unique_ptr<NodeBuilder> NodeBuilderState::make(std::unique_ptr<NodeBuilderState> state) {
  return std::unique_ptr<NodeBuilder>(new NodeBuilder(std::move(state)));
}

std::vector<Var> NodeBuilderState::vars(NodeBuilder& b, const std::vector<ValueId>& values) {
  std::vector<Var> out;
  for (const auto v : values) out.push_back(var(b, v));
  return out;
}

ValueId NodeBuilderState::checked(const NodeBuilder& b, Var v, std::string_view by) {
  if (v.builder_ != &b)
    throw error(v.builder_ ? "build.foreign" : "build.absent",
                cat("an operand of ", by, v.builder_ ? " belongs to another graph" : " holds nothing"));
  const NodeBuilderState& s = of(b);
  const ValueId id(v.id_);
  if (id.index >= s.graph.value_capacity())  // staging took back what made it
    throw error("build.foreign", cat("an operand of ", by, " is no longer there"));
  if (!s.graph.is_inside(s.on.region(), s.graph[id].home))
    throw error("build.body", cat("an operand of ", by, " belongs to a body that this is not part of"));
  return id;
}

NodeBuilder& Var::owner() const {
  if (!builder_) throw error("build.absent", "a value that holds nothing is used");
  return *builder_;
}
std::string Var::type() const { return api::type_text(owner().state_->graph[ValueId(id_)].fact.type); }
std::string Var::dtype() const { return api::dtype_text(owner().state_->graph[ValueId(id_)].fact.type); }

std::optional<std::vector<std::string>> Var::shape() const {
  const ir::Fact& f = owner().state_->graph[ValueId(id_)].fact;
  return f.has_rank() ? std::optional(api::size_texts(f.shape())) : std::nullopt;
}

std::optional<SharedArray> Var::constant() const {
  const auto t = owner().state_->graph.constant(ValueId(id_));
  return t ? std::optional(shared_of(*t)) : std::nullopt;
}

NodeBuilder::NodeBuilder(std::unique_ptr<NodeBuilderState> state) : state_(std::move(state)) {}
NodeBuilder::~NodeBuilder() = default;

Var NodeBuilder::constant(const SharedArray& value) {
  return NodeBuilderState::var(*this, state_->on.constant(tensor_of(value, "")));
}
Var NodeBuilder::ints(std::vector<int64_t> values) { return NodeBuilderState::var(*this, state_->on.ints(values)); }
Var NodeBuilder::number(double v, Var like) {
  const ValueId beside = NodeBuilderState::checked(*this, like, "number");
  const ir::Type& type = state_->graph[beside].fact.type;
  if (type.is_tensor() && !holds(type.elem, v))
    throw error("build.number", cat(v, " is no ", ir::name(type.elem), ", the element type of the value beside it"));
  return NodeBuilderState::var(*this, state_->on.number_like(v, beside));
}

Var NodeBuilder::op(std::string_view op_type, std::vector<Var> inputs, std::vector<Attribute> attributes) {
  return op_outputs(1, op_type, std::move(inputs), std::move(attributes)).front();
}

std::vector<Var> NodeBuilder::op_outputs(size_t outputs, std::string_view op_type, std::vector<Var> inputs,
                                         std::vector<Attribute> attributes, int opset) {
  std::vector<ValueId> operands;
  for (const Var v : inputs) operands.push_back(v ? NodeBuilderState::checked(*this, v, op_type) : ValueId());
  const auto [domain, name] = ops::domain_and_name(op_type);
  if (opset < 0 || opset > ops::newest_opset) throw error("use.opset", cat("there is no opset ", opset));
  const bool is_onnx = domain.empty(), is_old = opset > 0 && opset < ops::newest_released_opset;
  const ops::OpDef* known = ops::find_op(domain, name);
  if (is_onnx && !known && !is_old)
    throw error("build.operator", cat("ONNX has no operator '", op_type, "'"))
        .help(
            "names are spelt as ONNX spells them, such as MatMul; operators of your own have a domain: my.domain::Op");
  std::vector<ValueId> made;
  if (is_onnx && is_old && (!known || changed_since(*known, opset)))
    made = emit_old(*state_, name, operands, attributes, outputs, opset);
  else if (known && !(state_->staged && domain == ops::linger::domain))
    made = emit_known(*state_, *known, op_type, std::move(operands), attributes, outputs);
  else made = emit_foreign(*state_, domain, name, std::move(operands), attributes, outputs);
  if (state_->made)
    for (const ValueId v : made) state_->made(v);
  return NodeBuilderState::vars(*this, made);
}

void NodeBuilder::set_type(Var value, std::string_view type) {
  ir::Graph& g = state_->graph;
  const ValueId v = NodeBuilderState::checked(*this, value, "set_type");
  auto merged = ir::merge(g[v].fact.type, parse_type(type, g.dims()));
  if (!merged) throw error("build.type", cat("a value of type ", api::type_text(g[v].fact.type), " cannot be ", type));
  g.fact(v).type = std::move(*merged);
  if (state_->made) state_->made(v);
}

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
