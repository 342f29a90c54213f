#include "ir/graph.h"

#include <algorithm>

#include "support/error.h"

namespace cameo::ir {

namespace {
constexpr int64_t max_known_ints = 4096;  // shape arithmetic is short; longer vectors are data
}

std::optional<std::vector<Dim>> Fact::ints() const {
  if (!contents) return std::nullopt;
  if (const auto* dims = std::get_if<std::vector<Dim>>(contents.get())) return *dims;
  const Tensor& t = std::get<Tensor>(*contents);
  if ((!is_int(t.dtype()) && t.dtype() != DType::boolean) || t.count() > max_known_ints) return std::nullopt;
  std::vector<Dim> out;
  out.reserve(static_cast<size_t>(t.count()));
  for (int64_t i = 0; i < t.count(); ++i) {
    if (t.dtype() == DType::u64 && t.double_at(i) > 9.2e18) return std::nullopt;
    out.emplace_back(t.int_at(i));
  }
  return out;
}

Graph::Graph() : dims_(std::make_shared<DimContext>()) { add_region({}); }

Graph Graph::empty_like() const {
  Graph out;
  out.dims_ = dims_;
  out.facts = facts;
  return out;
}

void Graph::reserve(size_t nodes, size_t values) {
  nodes_.reserve(nodes_.size() + nodes);
  values_.reserve(values_.size() + values);
  origins_.reserve(origins_.size() + nodes);
}

RegionId Graph::add_region(RegionId parent, NodeId owner) {
  Region r;
  r.parent = parent;
  r.owner = owner;
  regions_.push_back(std::move(r));
  return RegionId(region_capacity() - 1);
}

ValueId Graph::add_input(RegionId region, std::string name, Type type) {
  Value v;
  v.kind = Value::Kind::region_input;
  v.home = region;
  v.def_index = static_cast<uint32_t>(regions_[region.index].inputs.size());
  v.name = std::move(name);
  v.fact.type = std::move(type);
  values_.push_back(std::move(v));
  const ValueId id(value_capacity() - 1);
  regions_[region.index].inputs.push_back(id);
  return id;
}

ValueId Graph::add_initializer(RegionId region, std::string name, std::shared_ptr<const Weight> weight) {
  Value v;
  v.kind = Value::Kind::initializer;
  v.home = region;
  v.name = std::move(name);
  Shape shape(weight->shape.begin(), weight->shape.end());
  v.fact.type = Type::tensor(weight->dtype, std::move(shape));
  v.weight = std::move(weight);
  values_.push_back(std::move(v));
  const ValueId id(value_capacity() - 1);
  regions_[region.index].initializers.push_back(id);
  return id;
}

ValueId Graph::add_constant(const Tensor& t, std::string name, RegionId region) {
  const ValueId v = add_initializer(region, std::move(name), std::make_shared<const Weight>(Weight::of(t)));
  values_[v.index].fact.contents = std::make_shared<const Contents>(t);
  return v;
}

NodeId Graph::add_node(RegionId region, const OpInfo& op, std::shared_ptr<const void> attrs,
                       std::vector<ValueId> inputs, size_t outputs, NodeId before) {
  const NodeId id(node_capacity());
  Node& n = nodes_.emplace_back();
  n.op = &op;
  n.attrs = attrs || op.is_opaque() ? std::move(attrs) : op.defaults();
  n.inputs = std::move(inputs);
  if (!op.graph_attrs.empty()) n.regions.resize(op.graph_attrs.size());
  for (uint32_t i = 0; i < n.inputs.size(); ++i)
    if (n.inputs[i]) values_[n.inputs[i].index].uses.push_back({id, {}, i});
  link(id, region, before);
  n.outputs.reserve(outputs);
  for (size_t i = 0; i < outputs; ++i) add_output(id);
  return id;
}

ValueId Graph::add_output(NodeId n) {
  Value& v = values_.emplace_back();
  Node& node = nodes_[n.index];
  v.kind = Value::Kind::node_output;
  v.def = n;
  v.home = node.home;
  v.def_index = static_cast<uint32_t>(node.outputs.size());
  const ValueId id(value_capacity() - 1);
  node.outputs.push_back(id);
  touch(n);
  return id;
}

void Graph::drop_last_output(NodeId n) {
  auto& outputs = nodes_[n.index].outputs;
  invariant(!outputs.empty() && !used(outputs.back()), "a dropped output is unused");
  values_[outputs.back().index].kind = Value::Kind::dead;
  outputs.pop_back();
  touch(n);
}

void Graph::link(NodeId id, RegionId region, NodeId before) {
  Node& n = nodes_[id.index];
  Region& r = regions_[region.index];
  n.home = region;
  n.next = before;
  n.prev = before ? nodes_[before.index].prev : r.last;
  if (n.prev) nodes_[n.prev.index].next = id;
  else r.first = id;
  if (before) nodes_[before.index].prev = id;
  else r.last = id;
}

void Graph::unlink(NodeId id) {
  Node& n = nodes_[id.index];
  Region& r = regions_[n.home.index];
  if (n.prev) nodes_[n.prev.index].next = n.next;
  else r.first = n.next;
  if (n.next) nodes_[n.next.index].prev = n.prev;
  else r.last = n.prev;
  n.prev = n.next = {};
}

void Graph::set_region(NodeId n, size_t i, RegionId r) {
  auto& regions = nodes_[n.index].regions;
  if (regions.size() <= i) regions.resize(i + 1);
  regions[i] = r;
  regions_[r.index].owner = n;
  regions_[r.index].parent = nodes_[n.index].home;
}

void Graph::touch(NodeId n) {
  // Iterative: bodies may be nested deeply in a hostile file.
  while (n) {
    Node& node = nodes_[n.index];
    if (node.origin != UINT32_MAX) {
      origins_[node.origin].intact = false;
      node.origin = UINT32_MAX;
    }
    n = regions_[node.home.index].owner;
  }
}

void Graph::set_origin(NodeId n, uint32_t origin) {
  nodes_[n.index].origin = origin;
  ++origins_[origin].node_count;
}

void Graph::drop_use(ValueId v, const Use& use) {
  auto& uses = values_[v.index].uses;
  // From both ends: passes go forwards or backwards over the users of a value, which may be very many.
  size_t front = 0, back = uses.size();
  while (front < back && uses[front] != use && uses[back - 1] != use) ++front, --back;
  invariant(front < back, "use lists are complete");
  uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(uses[front] == use ? front : back - 1));
}

void Graph::set_input(NodeId n, size_t i, ValueId v) {
  auto& inputs = nodes_[n.index].inputs;
  if (inputs.size() <= i) inputs.resize(i + 1);
  if (inputs[i] == v) return;
  const Use use{n, {}, static_cast<uint32_t>(i)};
  if (inputs[i]) drop_use(inputs[i], use);
  inputs[i] = v;
  if (v) values_[v.index].uses.push_back(use);
  touch(n);
}

void Graph::set_inputs(NodeId n, std::vector<ValueId> inputs) {
  auto& old = nodes_[n.index].inputs;
  for (uint32_t i = static_cast<uint32_t>(old.size()); i-- > 0;)
    if (old[i]) drop_use(old[i], {n, {}, i});
  old = std::move(inputs);
  for (uint32_t i = 0; i < old.size(); ++i)
    if (old[i]) values_[old[i].index].uses.push_back({n, {}, i});
  touch(n);
}

void Graph::set_attrs(NodeId n, std::shared_ptr<const void> attrs) {
  nodes_[n.index].attrs = std::move(attrs);
  touch(n);
}

void Graph::set_op(NodeId n, const OpInfo& op, std::shared_ptr<const void> attrs) {
  Node& node = nodes_[n.index];
  node.op = &op;
  node.attrs = attrs || op.is_opaque() ? std::move(attrs) : op.defaults();
  node.regions.resize(std::max(node.regions.size(), op.graph_attrs.size()));
  touch(n);
}

void Graph::set_extra(NodeId n, NamedAttrs extra) {
  nodes_[n.index].extra = extra.empty() ? nullptr : std::make_shared<const NamedAttrs>(std::move(extra));
  touch(n);
}

void Graph::set_region_outputs(RegionId r, std::vector<ValueId> outputs) {
  auto& old = regions_[r.index].outputs;
  for (uint32_t i = 0; i < old.size(); ++i)
    if (old[i]) drop_use(old[i], {{}, r, i});
  old = std::move(outputs);
  for (uint32_t i = 0; i < old.size(); ++i)
    if (old[i]) values_[old[i].index].uses.push_back({{}, r, i});
  if (regions_[r.index].owner) touch(regions_[r.index].owner);
}

void Graph::remove_region_input(RegionId r, size_t i) {
  auto& inputs = regions_[r.index].inputs;
  invariant(i < inputs.size() && !used(inputs[i]), "a removed input is unused");
  values_[inputs[i].index].kind = Value::Kind::dead;
  inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
  for (; i < inputs.size(); ++i) values_[inputs[i].index].def_index = static_cast<uint32_t>(i);
  if (regions_[r.index].owner) touch(regions_[r.index].owner);
}

void Graph::reorder_inputs(RegionId r, std::vector<ValueId> order) {
  auto& inputs = regions_[r.index].inputs;
  invariant(std::is_permutation(order.begin(), order.end(), inputs.begin(), inputs.end()),
            "inputs in another order are the same inputs");
  inputs = std::move(order);
  for (size_t i = 0; i < inputs.size(); ++i) values_[inputs[i].index].def_index = static_cast<uint32_t>(i);
  if (regions_[r.index].owner) touch(regions_[r.index].owner);
}

void Graph::promote_to_initializer(ValueId v) {
  Value& value = values_[v.index];
  invariant(value.kind == Value::Kind::region_input && value.weight, "an input with a default becomes an initializer");
  Region& home = regions_[value.home.index];
  home.inputs.erase(home.inputs.begin() + static_cast<std::ptrdiff_t>(value.def_index));
  for (size_t i = value.def_index; i < home.inputs.size(); ++i)
    values_[home.inputs[i].index].def_index = static_cast<uint32_t>(i);
  value.kind = Value::Kind::initializer;
  value.def_index = 0;
  home.initializers.push_back(v);
  if (home.owner) touch(home.owner);
}

void Graph::set_weight(ValueId v, std::shared_ptr<const Weight> weight) {
  Value& value = values_[v.index];
  invariant(value.kind == Value::Kind::region_input || (value.kind == Value::Kind::initializer && weight),
            "only initializers and inputs have a weight");
  value.weight = std::move(weight);
}

void Graph::replace_uses(ValueId old, ValueId replacement) {
  if (old == replacement) return;
  auto uses = std::move(values_[old.index].uses);
  values_[old.index].uses.clear();
  for (const Use& use : uses) {
    if (use.node) {
      nodes_[use.node.index].inputs[use.index] = replacement;
      touch(use.node);
    } else {
      regions_[use.region.index].outputs[use.index] = replacement;
      if (regions_[use.region.index].owner) touch(regions_[use.region.index].owner);
    }
    values_[replacement.index].uses.push_back(use);
  }
}

void Graph::rename(ValueId v, std::string name) {
  Value& value = values_[v.index];
  if (value.name == name) return;
  value.name = std::move(name);
  if (value.def) touch(value.def);
  for (const Use& use : value.uses) {
    if (use.node) touch(use.node);
    else if (regions_[use.region.index].owner) touch(regions_[use.region.index].owner);
  }
  if (regions_[value.home.index].owner) touch(regions_[value.home.index].owner);
}

void Graph::rename(NodeId n, std::string name) {
  if (nodes_[n.index].name == name) return;
  nodes_[n.index].name = std::move(name);
  touch(n);
}

void Graph::kill_region(RegionId r) {
  std::vector<NodeId> doomed;
  set_region_outputs(r, {});
  for (const NodeId n : nodes(r)) doomed.push_back(n);
  for (auto it = doomed.rbegin(); it != doomed.rend(); ++it) erase(*it);
  Region& region = regions_[r.index];
  for (const auto* list : {&region.inputs, &region.initializers})
    for (const ValueId v : *list) values_[v.index].kind = Value::Kind::dead;
  region.inputs.clear();
  region.initializers.clear();
  region.dead = true;
}

void Graph::erase(NodeId id) {
  touch(id);
  for (const RegionId r : std::vector<RegionId>(nodes_[id.index].regions))
    if (r) kill_region(r);
  Node& n = nodes_[id.index];
  for (uint32_t i = static_cast<uint32_t>(n.inputs.size()); i-- > 0;)
    if (n.inputs[i]) drop_use(n.inputs[i], {id, {}, i});
  for (const ValueId v : n.outputs) {
    invariant(!used(v), "an erased node's outputs are unused");
    values_[v.index].kind = Value::Kind::dead;
  }
  unlink(id);
  n.inputs.clear();
  n.outputs.clear();
  n.regions.clear();
  n.attrs.reset();
  n.dead = true;
}

void Graph::erase_initializer(ValueId v) {
  invariant(!used(v) && values_[v.index].kind == Value::Kind::initializer, "an erased initializer is unused");
  auto& list = regions_[values_[v.index].home.index].initializers;
  list.erase(std::find(list.begin(), list.end(), v));
  values_[v.index].kind = Value::Kind::dead;
  values_[v.index].weight.reset();
}

void Graph::move_before(NodeId n, NodeId before) {
  const RegionId target = before ? nodes_[before.index].home : nodes_[n.index].home;
  if (nodes_[n.index].home != target) touch(n);
  unlink(n);
  link(n, target, before);
  for (const ValueId v : nodes_[n.index].outputs) values_[v.index].home = target;
  for (const RegionId r : nodes_[n.index].regions)
    if (r) regions_[r.index].parent = target;
}

ValueId Graph::input(NodeId n, size_t i) const {
  const auto& inputs = nodes_[n.index].inputs;
  return i < inputs.size() ? inputs[i] : ValueId();
}

bool Graph::is_constant(ValueId v) const {
  if (!v) return false;
  const Value& value = values_[v.index];
  return value.kind == Value::Kind::initializer ||
         (value.def && value.fact.tensor() && nodes_[value.def.index].is("Constant"));
}

std::optional<Tensor> Graph::constant(ValueId v, uint64_t budget_bytes) const {
  if (!is_constant(v)) return std::nullopt;
  const Value& value = values_[v.index];
  if (const Tensor* known = value.fact.tensor()) return *known;
  if (!value.weight || value.weight->byte_size() > budget_bytes) return std::nullopt;
  return value.weight->dense();
}

bool Graph::is_inside(RegionId inner, RegionId outer) const {
  for (; inner; inner = regions_[inner.index].parent)
    if (inner == outer) return true;
  return false;
}

size_t Graph::node_count() const {
  return static_cast<size_t>(std::count_if(nodes_.begin(), nodes_.end(), [](const Node& n) { return !n.dead; }));
}

GraphMark Graph::mark() const { return {node_capacity(), value_capacity(), region_capacity(), facts.mark()}; }

void Graph::rollback(const GraphMark& m) {
  const auto is_new = [&](const Use& u) { return u.node ? u.node.index >= m.nodes : u.region.index >= m.regions; };
  const auto drop_new_uses = [&](ValueId v) {
    if (v && v.index < m.values) std::erase_if(values_[v.index].uses, is_new);
  };
  for (uint32_t r = m.regions; r < region_capacity(); ++r)
    for (const ValueId v : regions_[r].outputs) drop_new_uses(v);
  for (uint32_t i = node_capacity(); i-- > m.nodes;) {
    if (nodes_[i].dead) continue;
    for (const ValueId v : nodes_[i].inputs) drop_new_uses(v);
    if (nodes_[i].home.index < m.regions) unlink(NodeId(i));
  }
  for (uint32_t i = value_capacity(); i-- > m.values;) {
    const Value& v = values_[i];
    if (v.home.index >= m.regions || v.kind == Value::Kind::node_output || v.kind == Value::Kind::dead) continue;
    auto& home = regions_[v.home.index];
    std::erase(v.kind == Value::Kind::initializer ? home.initializers : home.inputs, ValueId(i));
  }
  nodes_.resize(m.nodes);
  values_.resize(m.values);
  regions_.resize(m.regions);
  facts.rewind(m.facts);
}

}  // namespace cameo::ir
