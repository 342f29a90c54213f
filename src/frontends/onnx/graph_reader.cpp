#include "frontends/onnx/graph_reader.h"

#include <algorithm>

#include "frontends/onnx/node_order.h"
#include "support/budget.h"

namespace cameo::onnx {

namespace {

std::vector<std::pair<std::string, std::string>> owned(const Pairs& pairs) { return {pairs.begin(), pairs.end()}; }

std::vector<ValueInfoProto> read_infos(const std::vector<pb::Field>& fields) {
  std::vector<ValueInfoProto> out;
  out.reserve(fields.size());
  for (const auto& f : fields) out.push_back(read_value_info(f.message()));
  return out;
}

}  // namespace

Loc GraphReader::loc(const Place& place) const {
  Loc out{.file = source_.path, .scope = std::string(place.name)};
  if (!place.node) return out;
  const NodeProto& p = *place.node;
  out.scope = p.op_type;
  out.offset = p.offset;
  const auto named = std::find_if(p.outputs.begin(), p.outputs.end(), [](std::string_view o) { return !o.empty(); });
  if (!p.name.empty()) out.scope += cat(" '", p.name, "'");
  else if (named != p.outputs.end()) out.scope += cat(" -> '", *named, "'");
  return out;
}

void GraphReader::describe_value(ValueId v, const ValueInfoProto& info) {
  if (info.type.kind != TypeProto::Kind::none) g_.fact(v).type = types_.type(info.type, info.name);
  ValueLabel& label = g_.label(v);
  if (!info.doc.empty()) label.doc = info.doc;
  if (!info.metadata.empty())
    label.metadata = std::make_shared<const std::vector<std::pair<std::string, std::string>>>(owned(info.metadata));
}

void GraphReader::define(std::string_view name, ValueId v, Scope& scope, const Place& where) {
  if (name.empty()) return;
  if (!scope.values.emplace(name, v).second) {
    diags_.err("model.duplicate-value", cat("the name '", name, "' is given to a second value"), loc(where));
    return;
  }
  if (scope.parent && find(name, *scope.parent))
    diags_.warn("model.shadowed-value", cat("'", name, "' also names a value outside this body"), loc(where));
}

const ValueId* GraphReader::find(std::string_view name, const Scope& scope) {
  for (const Scope* s = &scope; s; s = s->parent)
    if (const ValueId* v = s->values.find(name)) return v;
  return nullptr;
}

ValueId GraphReader::resolve(std::string_view name, Scope& scope, const Place& where) {
  if (name.empty()) return {};
  if (const ValueId* v = find(name, scope)) return *v;
  if (scope.later.empty() && scope.nodes)
    for (const auto& f : *scope.nodes) {
      auto in = f.message();
      while (auto field = in.next())
        if (field.number == 2) scope.later.insert(field.text());
    }
  if (scope.later.count(name))
    diags_.err("model.not-sorted", cat("'", name, "' is used before the node that computes it"), loc(where)).hint =
        "ONNX needs nodes in an order in which every value is computed before it is used";
  else diags_.err("model.undefined-value", cat("there is no value '", name, "'"), loc(where));
  return {};
}

void GraphReader::read_main(const GraphProto& proto, const Opsets& opsets) {
  opsets_ = &opsets;
  Scope scope;
  scope.region = g_.main();
  // Bounded by what the bytes can hold: an empty message takes two of them, and a node hundreds of bytes in memory.
  const auto held = [&](size_t messages) { return std::min(messages, proto.whole.size() / 16); };
  const size_t nodes = held(proto.nodes.size()), others = held(proto.inputs.size() + proto.initializers.size());
  g_.reserve(nodes, nodes + nodes / 16 + others);
  scope.values.reserve(nodes + others);
  read_graph(proto, scope);
}

void GraphReader::read_graph(const GraphProto& proto, Scope& scope) {
  RegionLabel& label = g_.label(scope.region);
  label.name = proto.name;
  label.doc = proto.doc;
  label.metadata = owned(proto.metadata);
  if (!sorting_) label.origin = source_.file.view(proto.whole);  // else it is written anew
  const auto inputs = read_infos(proto.inputs), outputs = read_infos(proto.outputs),
             values = read_infos(proto.value_info);
  for (const auto* list : {&inputs, &outputs, &values})
    for (const ValueInfoProto& info : *list) types_.reserve(info.type);
  for (const auto* list : {&values, &outputs})  // what an output declares counts more than a value_info of its name
    for (const ValueInfoProto& info : *list) scope.infos.set(info.name, &info);
  scope.nodes = &proto.nodes;
  read_inputs(inputs, scope);
  read_initializers(proto, scope);
  read_nodes(proto.nodes, scope);
  std::vector<std::string_view> names;
  for (const ValueInfoProto& info : outputs) names.push_back(info.name);
  read_outputs(names, scope);
}

void GraphReader::read_inputs(const std::vector<ValueInfoProto>& inputs, Scope& scope) {
  for (const ValueInfoProto& info : inputs) {
    const Place where{.name = info.name};
    if (info.name.empty()) diags_.err("model.unnamed-input", "an input has no name", loc(where));
    const ValueId v = g_.add_input(scope.region, std::string(info.name), {});
    describe_value(v, info);
    define(info.name, v, scope, where);
  }
}

void GraphReader::read_initializers(const GraphProto& proto, Scope& scope) {
  for (const auto& f : proto.initializers) read_initializer(read_tensor(f.message()), scope);
  for (const auto& f : proto.sparse_initializers) read_sparse_initializer(read_sparse_tensor(f.message()), scope);
}

void GraphReader::read_initializer(const TensorProto& t, Scope& scope) {
  auto weight = std::make_shared<const Weight>(to_weight(t, source_));
  const Place where{.name = t.name};
  if (t.name.empty()) return void(diags_.err("model.unnamed-initializer", "an initializer has no name", loc(where)));
  if (const ValueId* input = scope.values.find(t.name);
      input && *input && g_[*input].kind == Value::Kind::region_input && !g_[*input].weight) {
    g_.set_weight(*input, std::move(weight));
    return;
  }
  const ValueId v = g_.add_initializer(scope.region, std::string(t.name), std::move(weight));
  if (!t.doc.empty()) g_.label(v).doc = t.doc;
  define(t.name, v, scope, where);
}

// The graph has no sparse weights: a Constant with a sparse value says the same.
void GraphReader::read_sparse_initializer(const SparseTensorProto& t, Scope& scope) {
  auto attrs = std::make_shared<op::Constant>();
  attrs->sparse_value = to_sparse_tensor(t, source_);
  const NodeId n = g_.add_node(scope.region, op_of<op::Constant>(), std::move(attrs), {});
  const ValueId v = g_[n].outputs[0];
  g_.label(v).name = t.values.name;
  if (const auto dtype = dtype_from_number(t.values.data_type))
    g_.fact(v).type = Type::tensor(*dtype, Shape(t.dims.begin(), t.dims.end()));
  define(t.values.name, v, scope, {.name = t.values.name});
}

void GraphReader::read_outputs(const std::vector<std::string_view>& names, Scope& scope) {
  std::vector<ValueId> outputs;
  for (const auto name : names) {
    const Place where{.name = name};
    if (name.empty()) diags_.err("model.unnamed-output", "an output has no name", loc(where));
    if (const ValueId v = resolve(name, scope, where)) outputs.push_back(v);
  }
  g_.set_region_outputs(scope.region, std::move(outputs));
}

void GraphReader::read_nodes(const std::vector<pb::Field>& nodes, Scope& scope) {
  NodeProto p;
  std::vector<pb::Field> sorted;
  if (sorting_) sorted = in_order(nodes);
  for (const auto& f : sorting_ ? sorted : nodes) {
    checkpoint();
    p.read(f.message());
    p.offset = f.offset();
    read_node(p, scope);
  }
}

void GraphReader::read_function(const FunctionProto& proto, LocalFunction& out) {
  out.domain = proto.domain == "ai.onnx" ? "" : proto.domain;
  out.name = proto.name;
  out.overload = proto.overload;
  out.doc = proto.doc;
  out.metadata = owned(proto.metadata);
  out.attributes.assign(proto.attributes.begin(), proto.attributes.end());
  for (const auto& f : proto.attribute_defaults) {
    auto in = f.message();
    const AttributeProto a = read_attribute(in);
    out.attribute_defaults.push_back({std::string(a.name), to_attribute(a, source_, types_)});
  }
  for (const OpsetProto& o : proto.opsets) out.opsets[o.domain == "ai.onnx" ? "" : std::string(o.domain)] = o.version;
  opsets_ = &out.opsets;
  out.body = g_.add_region({});
  g_.label(out.body).name = out.name;
  if (!sorting_) g_.label(out.body).origin = source_.file.view(proto.whole);
  Scope scope;
  scope.region = out.body;
  scope.nodes = &proto.nodes;
  const auto values = read_infos(proto.value_info);
  for (const ValueInfoProto& info : values) types_.reserve(info.type);
  for (const ValueInfoProto& info : values) scope.infos.set(info.name, &info);
  for (const auto name : proto.inputs) {
    const ValueId v = g_.add_input(out.body, std::string(name), {});
    if (const auto* info = scope.infos.find(name)) describe_value(v, **info);
    define(name, v, scope, {.name = proto.name});
  }
  read_nodes(proto.nodes, scope);
  read_outputs(proto.outputs, scope);
}

}  // namespace cameo::onnx
