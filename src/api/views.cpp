// Nodes, values and weights of the public Model: views of the graph behind it.
#include <algorithm>

#include "ir/dim_name.h"
#include "api/export_names.h"
#include "api/type_text.h"
#include "ir/op_info.h"

#include "api/state.h"

namespace cameo {

namespace {

const ir::Graph& graph_of(const ModelHandle& m) { return m->model.graph; }
const ir::Node& node_of(const ModelHandle& m, uint32_t id) { return graph_of(m)[support::NodeId(id)]; }
const ir::Value& value_of(const ModelHandle& m, uint32_t id) { return graph_of(m)[support::ValueId(id)]; }

[[noreturn]] void no_index(size_t i, size_t count, std::string_view what) {
  throw error("use.index", cat("there is no ", what, " ", i, ": the node has ", count));
}

std::vector<double> doubles(const std::vector<float>& v) { return {v.begin(), v.end()}; }

}  // namespace

std::optional<Attribute> attribute_of(const std::string& name, const ir::AttrValue& v) {
  if (const auto* f = std::get_if<float>(&v)) return Attribute(name, static_cast<double>(*f));
  if (const auto* i = std::get_if<int64_t>(&v)) return Attribute(name, *i);
  if (const auto* s = std::get_if<std::string>(&v)) return Attribute(name, *s);
  if (const auto* list = std::get_if<std::vector<float>>(&v)) return Attribute(name, doubles(*list));
  if (const auto* list = std::get_if<std::vector<int64_t>>(&v)) return Attribute(name, *list);
  if (const auto* list = std::get_if<std::vector<std::string>>(&v)) return Attribute(name, *list);
  if (const auto* t = std::get_if<ir::Tensor>(&v); t && t->dtype() != ir::DType::string)
    return Attribute(name, array_of(*t, name));
  return std::nullopt;
}

uint32_t Value::id() const {
  if (!present()) throw error("use.absent", "the node has no such operand").help("present() tells");
  return id_;
}
std::string Value::name() const { return value_of(model_, id()).name; }
std::string Value::label() const {
  const std::string& name = value_of(model_, id()).name;
  return name.empty() ? cat("%", id_) : name;
}
std::string Value::onnx_type() const { return value_of(model_, id()).fact.type.onnx_text(); }
std::string Value::type() const { return api::type_text(value_of(model_, id()).fact.type); }

std::string Value::dtype() const { return api::dtype_text(value_of(model_, id()).fact.type); }

std::optional<std::vector<std::string>> Value::shape() const {
  const ir::Fact& f = value_of(model_, id()).fact;
  if (!f.has_rank()) return std::nullopt;
  std::vector<std::string> out = api::size_texts(f.shape());
  for (size_t i = 0; i < out.size(); ++i)
    if (out[i].starts_with('\'')) out[i] = ir::name_or_text(f.shape()[i]);  // as it was given
  return out;
}

std::optional<Weight> Value::weight() const {
  if (!value_of(model_, id()).weight) return std::nullopt;
  return Weight(model_, id_);
}

std::optional<Node> Value::maker() const {
  const support::NodeId def = value_of(model_, id()).def;
  return def ? std::optional(Node(model_, def.index)) : std::nullopt;
}

std::vector<Node> Value::users() const {
  std::vector<Node> out;
  for (const ir::Use& u : value_of(model_, id()).uses)
    if (u.node) out.push_back(Node(model_, u.node.index));
  return out;
}

std::string Weight::dtype() const { return std::string(ir::name(value_of(model_, value_).weight->dtype)); }
std::vector<int64_t> Weight::shape() const { return value_of(model_, value_).weight->shape; }
uint64_t Weight::byte_size() const { return value_of(model_, value_).weight->byte_size(); }
Array Weight::array() const {
  return array_of(value_of(model_, value_).weight->dense(), value_of(model_, value_).name);
}

SharedArray Weight::shared() const { return shared_of(value_of(model_, value_).weight->dense()); }

std::string Node::name() const { return node_of(model_, id_).name; }
std::string Node::op() const { return std::string(node_of(model_, id_).op->name); }
std::string Node::domain() const { return std::string(node_of(model_, id_).op->domain); }
size_t Node::input_count() const { return node_of(model_, id_).inputs.size(); }
size_t Node::output_count() const { return node_of(model_, id_).outputs.size(); }

Value Node::input(size_t i) const {
  const auto& all = node_of(model_, id_).inputs;
  if (i >= all.size()) no_index(i, all.size(), "input");
  return Value(model_, all[i] ? all[i].index : Value::none);
}

Value Node::output(size_t i) const {
  const auto& all = node_of(model_, id_).outputs;
  if (i >= all.size()) no_index(i, all.size(), "output");
  return Value(model_, all[i].index);
}

std::vector<Value> Node::inputs() const {
  std::vector<Value> out;
  for (size_t i = 0; i < input_count(); ++i) out.push_back(input(i));
  return out;
}

std::vector<Value> Node::outputs() const {
  std::vector<Value> out;
  for (size_t i = 0; i < output_count(); ++i) out.push_back(output(i));
  return out;
}

std::vector<Attribute> Node::attributes() const {
  const ir::Node& n = node_of(model_, id_);
  std::vector<Attribute> out;
  const auto add = [&](std::string_view name, const ir::AttrValue& v) {
    if (auto a = attribute_of(std::string(name), v)) out.push_back(std::move(*a));
  };
  for (const ir::AttrField& f : n.op->fields)
    if (n.attrs && !f.is_default(n.attrs.get())) add(f.name, f.get(n.attrs.get()));
  if (n.extra)
    for (const ir::NamedAttr& a : *n.extra) add(a.name, a.value);
  return out;
}

std::optional<Attribute> Node::attribute(std::string_view name) const {
  for (Attribute& a : attributes())
    if (a.name == name) return std::move(a);
  return std::nullopt;
}

std::vector<std::pair<std::string, Graph>> Node::bodies() const {
  const ir::Node& n = node_of(model_, id_);
  std::vector<std::pair<std::string, Graph>> out;
  for (size_t i = 0; i < n.regions.size(); ++i)
    if (n.regions[i])
      out.emplace_back(i < n.op->graph_attrs.size() ? std::string(n.op->graph_attrs[i]) : cat("body", i),
                       Graph(model_, n.regions[i].index));
  return out;
}

std::string Node::place() const { return api::place_of(node_of(model_, id_)); }

Loc Node::where() const {
  const auto& notes = node_of(model_, id_).notes;
  return notes ? notes->where : Loc();
}

std::string Graph::name() const { return graph_of(model_)[support::RegionId(region_)].name; }

std::vector<Node> Graph::nodes() const {
  std::vector<Node> out;
  for (const auto n : graph_of(model_).nodes(support::RegionId(region_))) out.push_back(Node(model_, n.index));
  return out;
}

namespace {
template <class Make>
std::vector<Value> values_of(const std::vector<support::ValueId>& ids, Make make) {
  std::vector<Value> out;
  for (const auto v : ids) out.push_back(make(v.index));
  return out;
}
}  // namespace

std::vector<Value> Graph::inputs() const {
  return values_of(graph_of(model_)[support::RegionId(region_)].inputs, [&](uint32_t id) { return Value(model_, id); });
}
std::vector<Value> Graph::outputs() const {
  return values_of(graph_of(model_)[support::RegionId(region_)].outputs,
                   [&](uint32_t id) { return Value(model_, id); });
}
std::vector<Value> Graph::weights() const {
  return values_of(graph_of(model_)[support::RegionId(region_)].initializers,
                   [&](uint32_t id) { return Value(model_, id); });
}

std::optional<uint32_t> NameIndex::find(const ir::Graph& g, uint32_t region, std::string_view name) const {
  const std::lock_guard lock(busy_);
  if (!made_) {
    for (uint32_t i = 0; i < g.value_capacity(); ++i)
      if (const ir::Value& v = g[support::ValueId(i)]; v.kind != ir::Value::Kind::dead && !v.name.empty())
        values_.emplace_back(v.home.index, v.name, i);
    std::sort(values_.begin(), values_.end());
    made_ = true;
  }
  const auto at = std::lower_bound(values_.begin(), values_.end(), std::tuple(region, name, uint32_t{0}));
  if (at == values_.end() || std::get<0>(*at) != region || std::get<1>(*at) != name) return std::nullopt;
  return std::get<2>(*at);
}

std::optional<Value> Graph::find(std::string_view name) const {
  if (name.empty()) return std::nullopt;
  const auto id = model_->names.find(graph_of(model_), region_, name);
  return id ? std::optional(Value(model_, *id)) : std::nullopt;
}

Graph Model::graph() const {
  ModelState::onnx(*this);
  return Graph(state_, graph_of(state_).main().index);
}

std::vector<Function> Model::functions() const {
  std::vector<Function> out;
  for (const ir::LocalFunction& f : ModelState::onnx(*this).functions)
    out.push_back({f.domain, f.name, Graph(state_, f.body.index)});
  return out;
}

}  // namespace cameo
