// Nodes: attributes, upgrade to the canonical encoding, bodies, origins.
#include <algorithm>

#include "frontends/onnx/graph_reader.h"
#include "ops/infer.h"
#include "support/error.h"
#include "support/progress.h"

namespace cameo::onnx {

// The version of a known domain; nullopt when Cameo cannot interpret its nodes.
std::optional<int64_t> GraphReader::version_of(std::string_view domain, const Place& where) {
  const int64_t newest = newest_version(domain);
  if (newest == 0) return std::nullopt;
  const auto it = opsets_->find(std::string(domain));
  if (it == opsets_->end()) {
    if (is_known_whole(domain) && warned_domains_.emplace(domain).second)
      diags_.err("model.opset-missing",
                 cat("the file does not say which version of ", domain.empty() ? "ai.onnx" : domain, " its nodes use"),
                 loc(where));
    return std::nullopt;
  }
  if (it->second <= newest) return it->second;
  if (warned_domains_.emplace(domain).second)
    diags_
        .warn("model.opset-newer",
              cat("opset ", it->second, " of ", domain.empty() ? "ai.onnx" : domain,
                  " is newer than this Cameo, which knows ", newest),
              loc(where))
        .hint = "its nodes are passed through as they are";
  return std::nullopt;
}

int64_t GraphReader::imported_version(std::string_view domain) {
  if (last_.opsets != opsets_ || last_.domain != domain) {
    const auto it = opsets_->find(std::string(domain));
    last_ = {opsets_, std::string(domain), it == opsets_->end() ? 0 : it->second, std::nullopt};
  }
  return last_.imported;
}

void GraphReader::collect_attributes(const NodeProto& p, NamedAttrs& attrs, std::vector<BodyField>& bodies) {
  attrs.reserve(p.attributes.size());
  for (const AttributeProto& a : p.attributes) {
    const AttrKind kind = attribute_kind(a);
    if (find_attr(attrs, a.name))
      diags_.err("model.attribute", cat("attribute '", a.name, "' is given twice"), loc({.node = &p}));
    else if (a.ref.empty() && (kind == AttrKind::graph || kind == AttrKind::graphs))
      for (const auto& f : a.graphs) bodies.push_back({std::string(a.name), f, kind == AttrKind::graphs});
    else attrs.push_back({std::string(a.name), to_attribute(a, source_, types_)});
  }
}

const OpDef* GraphReader::operator_of(const NodeProto& p, std::string_view domain, int64_t version) {
  if (!functions_.empty() && functions_.count({domain, p.op_type})) return nullptr;
  if (!last_.understood) last_.understood = version_of(domain, {.node = &p});
  if (!last_.understood) return nullptr;
  const OpDef* op = find_op(domain, p.op_type);
  if (op && !op->at(version))
    diags_.warn("model.operator-version",
                cat(p.op_type, " does not exist in opset ", version, ", only from ", op->first_version()),
                loc({.node = &p}));
  return op;
}

void GraphReader::read_node(const NodeProto& p, Scope& scope) {
  const Place where{.node = &p};
  const std::string_view domain = p.domain == "ai.onnx" ? "" : p.domain;
  const uint32_t first_node = g_.node_capacity(), first_value = g_.value_capacity();
  const int64_t version = imported_version(domain);
  EncodedNode encoded;
  encoded.op_type = p.op_type;
  encoded.outputs = p.outputs.size();
  encoded.inputs.reserve(p.inputs.size());
  for (const auto name : p.inputs) encoded.inputs.push_back(resolve(name, scope, where));
  std::vector<BodyField> bodies;
  Made made;
  try {
    collect_attributes(p, encoded.attrs, bodies);
    made = canonical(p, operator_of(p, domain, version), version, std::move(encoded), scope);
  } catch (const Error& e) {
    if (e.exit_code() >= 3 || support::ends_work(e)) throw;
    Diag d = e.diag();
    if (d.where.empty()) d.where = loc(where);
    diags_.add(std::move(d));
    for (const auto name : p.outputs) define(name, {}, scope, where);  // known, so that users do not complain as well
    return;
  }
  // Bodies first: they do not see what their own node computes.
  if (made.node) made.body_owner = made.node;
  if (made.body_owner) read_bodies(made.body_owner, bodies, scope, where);
  name_outputs(p, made.node, made.replacement, first_node, scope);
  keep_origin(p, scope.region, first_node, first_value, version, made.verbatim);
}

namespace {
// Upgrades, shape rules and kernels rely on operands that the schema demands.
void check_operands(const NodeProto& p, const EncodedNode& e, const SchemaVersion& schema) {
  if (e.inputs.size() < schema.min_in || e.inputs.size() > schema.max_in)
    throw error("model.operands", cat(p.op_type, " has ", e.inputs.size(), " inputs"))
        .why(cat("it takes ", schema.min_in, schema.max_in == schema.min_in ? "" : " or more"));
  if (e.outputs < schema.min_out || e.outputs > schema.max_out)
    throw error("model.operands", cat(p.op_type, " has ", e.outputs, " outputs"));
  for (size_t i = 0; i < e.inputs.size(); ++i)
    if (const Formal* f = schema.input(i); f && f->option != Formal::optional && !e.inputs[i])
      throw error("model.operands", cat("input ", i, " of ", p.op_type, " is missing"));
}
}  // namespace

namespace {
// Steps may take it for granted that required operands are there.
void check_required(const EncodedNode& e, const OpDef& op, const SchemaVersion* schema) {
  for (size_t i = 0; schema && i < schema->inputs.size(); ++i) {
    const bool there = i < e.inputs.size() && e.inputs[i].valid();
    if (schema->inputs[i].option == Formal::single && !there)
      throw error("model.operands", cat(op.name, " lacks its input '", schema->inputs[i].name, "'"));
  }
}

const Revision* next_revision(const OpDef& op, int64_t version) {
  const Revision* next = nullptr;
  for (const Revision& r : op.rules.revisions)
    if (r.up && r.version > version && (!next || r.version < next->version)) next = &r;
  return next;
}
}  // namespace

GraphReader::Made GraphReader::canonical(const NodeProto& p, const OpDef* op, int64_t opset, EncodedNode&& encoded,
                                         Scope& scope) {
  if (!op) return {.node = add_opaque(p, std::move(encoded), scope.region), .verbatim = true};
  const int64_t version = std::max<int64_t>(opset, op->first_version());
  const SchemaVersion* schema = op->at(version);
  if (schema) check_operands(p, encoded, *schema);
  if (next_revision(*op, version) || op->newest().deprecated) return upgraded(p, op, opset, std::move(encoded), scope);
  check_required(encoded, *op, schema);
  return {.node = add_known(*op, std::move(encoded), scope.region, {.node = &p}), .verbatim = true};
}

namespace {
// Upgrades emit nodes before what they read was inferred: each emission asks for its operands first.
class KnowingOn : public On {
 public:
  KnowingOn(Graph& g, RegionId region, std::function<void(ValueId)> know) : On(g, region), know_(std::move(know)) {}
  std::vector<ValueId> emit(const OpDef& op, std::shared_ptr<const void> attrs, std::vector<ValueId> inputs,
                            size_t outputs) override {
    for (const ValueId v : inputs)
      if (v) know_(v);
    return On::emit(op, std::move(attrs), std::move(inputs), outputs);
  }

 private:
  std::function<void(ValueId)> know_;
};
}  // namespace

GraphReader::Made GraphReader::upgraded(const NodeProto& p, const OpDef* op, int64_t opset, EncodedNode&& encoded,
                                        Scope& scope) {
  const auto is_reference = [](const NamedAttr& a) { return std::holds_alternative<AttrRef>(a.value); };
  const bool has_references = std::any_of(encoded.attrs.begin(), encoded.attrs.end(), is_reference);
  const EncodedNode as_read = has_references ? encoded : EncodedNode();
  const auto know = [this](ValueId v) { infer_operands({&v, 1}); };
  KnowingOn on(g_, scope.region, know);
  Upgrade u(on);
  u.know = know;
  static_cast<EncodedNode&>(u) = std::move(encoded);
  u.opset = opset;
  const Place where{.node = &p};
  try {
    op = upgrade(u, op, std::max<int64_t>(opset, op->first_version()), where);
  } catch (const Error&) {
    if (!has_references) throw;
    diags_.warn(
        "model.reference-upgrade",
        cat(p.op_type, " takes an attribute from its function and cannot be upgraded; it is passed through as it is"),
        loc(where));
    return {.node = add_opaque(p, EncodedNode(as_read), scope.region)};
  }
  if (!u.replacement.empty()) return {.body_owner = u.body_owner, .replacement = std::move(u.replacement)};
  return {.node = add_known(*op, std::move(u), scope.region, where)};
}

// Runs every step above the file's version, in order. A step may change the operator (Upsample becomes Resize).
const OpDef* GraphReader::upgrade(Upgrade& u, const OpDef* op, int64_t version, const Place& where) {
  check_required(u, *op, op->at(version));
  while (u.replacement.empty()) {
    const Revision* next = next_revision(*op, version);
    if (!next) break;
    next->up(u);
    version = next->version;
    if (u.op_type == op->name) continue;
    op = find_op(op->domain, u.op_type);
    invariant(op, "an upgrade leads to an operator that exists");
  }
  if (u.replacement.empty() && op->newest().deprecated)
    diags_.warn("model.deprecated", cat(op->name, " is deprecated and has no newer form here"), loc(where));
  return op;
}

NodeId GraphReader::add_known(const OpDef& op, EncodedNode&& encoded, RegionId region, const Place& where) {
  auto attrs = encoded.attrs.empty() ? nullptr : op.make();
  NamedAttrs extra;
  std::vector<bool> given(op.fields.size(), false);
  for (NamedAttr& a : encoded.attrs) {
    const auto field =
        std::find_if(op.fields.begin(), op.fields.end(), [&](const AttrField& f) { return f.name == a.name; });
    if (field != op.fields.end()) given[static_cast<size_t>(field - op.fields.begin())] = true;
    if (std::holds_alternative<AttrRef>(a.value)) {
      extra.push_back(std::move(a));
    } else if (field == op.fields.end()) {
      if (a.name == "consumed_inputs") continue;  // a hint of opsets 1 to 5, without meaning
      diags_.warn("model.attribute", cat(op.name, " has no attribute '", a.name, "'"), loc(where));
      extra.push_back(std::move(a));
    } else if (kind_of(a.value) != field->kind) {
      diags_.err("model.attribute",
                 cat("attribute '", a.name, "' of ", op.name, " is ", name(kind_of(a.value)), " and must be ",
                     name(field->kind)),
                 loc(where));
    } else {
      field->set(attrs.get(), std::move(a.value));
    }
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (op.fields[i].required && !given[i])
      diags_.err("model.attribute-missing", cat(op.name, " needs the attribute '", op.fields[i].name, "'"), loc(where));
  encoded.trim_inputs();
  const NodeId n = g_.add_node(region, op, std::move(attrs), std::move(encoded.inputs), encoded.outputs);
  if (!extra.empty()) g_.set_extra(n, std::move(extra));
  return n;
}

NodeId GraphReader::add_opaque(const NodeProto& p, EncodedNode&& encoded, RegionId region) {
  const auto& op = opaque_op(p.domain == "ai.onnx" ? "" : p.domain, p.op_type);
  const NodeId n = g_.add_node(region, op, nullptr, std::move(encoded.inputs), encoded.outputs);
  if (!encoded.attrs.empty()) g_.set_extra(n, std::move(encoded.attrs));
  return n;
}

void GraphReader::read_bodies(NodeId n, const std::vector<BodyField>& bodies, Scope& scope, const Place& where) {
  const OpInfo& op = *g_[n].op;
  NamedAttrs names;  // an opaque operator's regions, in order
  for (const BodyField& b : bodies) {
    size_t index = 0;
    if (op.is_opaque()) {
      index = names.size();
      names.push_back({b.name, {}});
    } else {
      const auto it = std::find(op.graph_attrs.begin(), op.graph_attrs.end(), b.name);
      index = static_cast<size_t>(it - op.graph_attrs.begin());
      if (it == op.graph_attrs.end() || g_[n].regions[index]) {
        diags_.err("model.attribute",
                   cat(op.name, it == op.graph_attrs.end() ? " has no body '" : " has two bodies '", b.name, "'"),
                   loc(where));
        continue;
      }
    }
    Scope inner;
    inner.region = g_.add_region(scope.region, n);
    inner.parent = &scope;
    g_.set_region(n, index, inner.region);
    const GraphProto body(b.field.message());
    read_graph(body, inner);
  }
  check_bodies(n, where);
  if (names.empty()) return;
  if (g_[n].extra) names.insert(names.begin(), g_[n].extra->begin(), g_[n].extra->end());
  g_.set_extra(n, std::move(names));
}

// Bodies that a function's attributes give are not there yet.
void GraphReader::check_bodies(NodeId n, const Place& where) {
  const OpInfo& op = *g_[n].op;
  for (size_t i = 0; !op.is_opaque() && i < op.graph_attrs.size(); ++i)
    if (!g_[n].regions[i] && def(op).needs_body(i) && !(g_[n].extra && find_attr(*g_[n].extra, op.graph_attrs[i])))
      diags_.err("model.attribute-missing", cat(op.name, " needs the body '", op.graph_attrs[i], "'"), loc(where));
}

void GraphReader::name_outputs(const NodeProto& p, NodeId n, const std::vector<ValueId>& replacement,
                               uint32_t first_node, Scope& scope) {
  const Place where{.node = &p};
  for (size_t i = 0; i < p.outputs.size(); ++i) {
    ValueId v = n                        ? (i < g_[n].outputs.size() ? g_[n].outputs[i] : ValueId())
                : i < replacement.size() ? replacement[i]
                                         : ValueId();
    if (!v && p.outputs[i].empty()) continue;
    // A value that has a name already, or none at all of its own, keeps the file's name apart by an Identity.
    if (v && !n && (!g_[v].name.empty() || g_[v].kind != Value::Kind::node_output))
      v = On(g_, scope.region).Identity(v);
    if (v) {
      g_.label(v).name = p.outputs[i];
      if (const auto* info = scope.infos.find(p.outputs[i]); info && !p.outputs[i].empty()) describe_value(v, **info);
    }
    define(p.outputs[i], v, scope, where);
  }
  const NodeId named = n ? n : g_[scope.region].last;
  if (!named || named.index < first_node) return;  // nothing was made of it
  if (!p.name.empty()) g_.set_name(named, std::string(p.name));
  if (p.doc.empty() && p.overload.empty() && p.metadata.empty()) return;
  auto notes = std::make_shared<NodeNotes>();
  notes->doc = p.doc;
  notes->overload = p.overload;
  notes->metadata = {p.metadata.begin(), p.metadata.end()};
  g_.set_notes(named, std::move(notes));
}

void GraphReader::keep_origin(const NodeProto& p, RegionId region, uint32_t first_node, uint32_t first_value,
                              int64_t opset, bool verbatim) {
  const auto index = static_cast<uint32_t>(g_.origins().size());
  Origin& origin = g_.origins().emplace_back();
  origin.bytes = source_.file.view(p.whole);
  origin.opset = opset;
  origin.verbatim = verbatim;
  // Nodes of its bodies have origins of their own, but for those that the upgrade itself put there.
  for (uint32_t i = first_node; i < g_.node_capacity(); ++i) {
    const Node& n = g_[NodeId(i)];
    if (n.dead || n.origin != UINT32_MAX || (n.home != region && n.is("Constant"))) continue;
    g_.set_origin(NodeId(i), index);
    if (n.home != region) --g_.origins()[index].node_count;  // it goes with its owner
  }
  if (g_.origins().back().node_count == 0) g_.origins().pop_back();
  for (uint32_t i = first_value; i < g_.value_capacity(); ++i) {
    const ValueId v(i);
    if (g_[v].kind == Value::Kind::initializer && g_[v].name.empty()) g_.label(v).synthetic = true;
  }
}

// Upgrades may ask for types and known contents of operands: what the nodes before tell is inferred on demand.
void GraphReader::infer_operands(std::span<const ValueId> values) {
  std::vector<NodeId> stack;
  inferred_.resize(std::max<size_t>(inferred_.size(), g_.node_capacity()), false);
  const auto push = [&](ValueId v) {
    if (v && g_[v].def && !inferred_[g_[v].def.index]) stack.push_back(g_[v].def);
  };
  for (const ValueId v : values) push(v);
  while (!stack.empty()) {
    const NodeId n = stack.back();
    const size_t before = stack.size();
    if (!inferred_[n.index])
      for (const ValueId v : g_[n].inputs) push(v);
    if (stack.size() != before) continue;
    stack.pop_back();
    if (inferred_[n.index]) continue;
    inferred_[n.index] = true;
    std::vector<Fact> declared;
    for (const ValueId v : g_[n].outputs) declared.push_back(g_[v].fact);
    if (g_[n].op->is_opaque()) continue;
    try {
      infer_node(g_, n);
    } catch (const Error&) {
      // What the rule refuses is reported when the whole model is inferred.
    }
    for (size_t i = 0; i < declared.size(); ++i) {
      Fact& f = g_.fact(g_[n].outputs[i]);
      auto merged = merge(declared[i].type, f.type);
      f.type = merged ? std::move(*merged) : declared[i].type;
    }
  }
}

}  // namespace cameo::onnx
