#include "ir/clone.h"

#include <algorithm>
#include <unordered_map>

#include "ir/transplant.h"
#include "support/error.h"

namespace cameo::ir {

namespace {

class Cloner {
 public:
  Cloner(const Graph& source, Graph& g, const CloneOptions& options)
      : source_(source), g_(g), options_(options), values_(own_) {}
  Cloner(const Graph& source, Graph& g, const CloneOptions& options, std::unordered_map<ValueId, ValueId>& values)
      : source_(source), g_(g), options_(options), values_(values) {}

  void map(ValueId from, ValueId to) { values_[from] = to; }

  // Nodes are copied by value first: the graph's arrays move while they grow.
  void body(RegionId from, RegionId into, NodeId before) {
    for (const ValueId v : std::vector<ValueId>(source_[from].initializers)) initializer(v, into);
    std::vector<NodeId> nodes;
    for (const NodeId n : source_.nodes(from)) nodes.push_back(n);
    for (const NodeId n : nodes) node(n, into, before);
  }

  RegionId region(RegionId from, RegionId parent, NodeId owner) {
    const RegionId to = g_.add_region(parent, owner);
    g_.label(to).name = source_[from].name;
    g_.label(to).doc = source_[from].doc;
    g_.label(to).metadata = source_[from].metadata;
    for (const ValueId v : std::vector<ValueId>(source_[from].inputs)) {
      const ValueId copy = g_.add_input(to, "", {});
      describe(v, copy);
      g_.set_weight(copy, source_[v].weight);
      map(v, copy);
    }
    body(from, to, {});
    g_.set_region_outputs(to, mapped(source_[from].outputs));
    return to;
  }

  std::vector<ValueId> mapped(std::vector<ValueId> list) {
    for (ValueId& v : list)
      if (v) v = mapped(v);
    return list;
  }

 private:
  std::string renamed(const std::string& name) const {
    return name.empty() || !options_.keep_names ? "" : options_.prefix + name;
  }

  // What comes from outside is the same value within a graph. Into another graph go the constants outside: rewrites of
  // a function's body leave theirs in the main graph.
  ValueId mapped(ValueId v) {
    if (const auto it = values_.find(v); it != values_.end()) return it->second;
    if (&source_ == &g_) return v;
    if (source_[v].kind != Value::Kind::initializer)
      throw support::error("model.undefined-value",
                           support::cat("a body reads '", source_[v].name, "', which is not in its scope"));
    initializer(v, g_.main());
    return values_.at(v);
  }

  void describe(ValueId from, ValueId to) {
    ValueLabel& copy = g_.label(to);
    const Value& v = source_[from];
    copy.name = renamed(v.name);
    g_.fact(to) = v.fact;
    copy.doc = v.doc;
    copy.metadata = v.metadata;
  }

  void initializer(ValueId v, RegionId into) {
    const ValueId copy = g_.add_initializer(into, "", source_[v].weight);
    describe(v, copy);
    map(v, copy);
  }

  void node(NodeId id, RegionId into, NodeId before) {
    const Node n = source_[id];
    const auto [attrs, extra] = bound(n);
    const NodeId copy = g_.add_node(into, *n.op, attrs, mapped(n.inputs), n.outputs.size(), before);
    g_.set_name(copy, renamed(n.name));
    g_.set_notes(copy, n.notes);
    if (extra && !extra->empty()) g_.set_extra(copy, *extra);
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      describe(n.outputs[i], g_[copy].outputs[i]);
      map(n.outputs[i], g_[copy].outputs[i]);
    }
    for (size_t i = 0; i < n.regions.size(); ++i)
      if (n.regions[i]) g_.set_region(copy, i, region(n.regions[i], into, copy));
  }

  std::pair<std::shared_ptr<const void>, std::shared_ptr<const NamedAttrs>> bound(const Node& n) const {
    const auto is_reference = [](const NamedAttr& a) { return std::holds_alternative<AttrRef>(a.value); };
    if (!options_.bindings || !n.extra || std::none_of(n.extra->begin(), n.extra->end(), is_reference))
      return {n.attrs, n.extra};
    std::shared_ptr<void> attrs = n.op->is_opaque() ? nullptr : copy_attrs(n);
    auto extra = std::make_shared<NamedAttrs>();
    for (const NamedAttr& a : *n.extra) {
      const auto* ref = std::get_if<AttrRef>(&a.value);
      const AttrValue* value = ref ? find_attr(*options_.bindings, ref->name) : &a.value;
      if (!value) continue;
      const auto field =
          std::find_if(n.op->fields.begin(), n.op->fields.end(), [&](const AttrField& f) { return f.name == a.name; });
      if (!ref || field == n.op->fields.end() || std::holds_alternative<AttrRef>(*value)) {
        extra->push_back({a.name, *value});
      } else if (kind_of(*value) == field->kind) {
        field->set(attrs.get(), *value);
      } else {
        throw error("model.attribute", cat("attribute '", a.name, "' of ", n.op->name, " is given ",
                                           name(kind_of(*value)), " and must be ", name(field->kind)));
      }
    }
    return {std::move(attrs), std::move(extra)};
  }

  static std::shared_ptr<void> copy_attrs(const Node& n) {
    auto out = n.op->make();
    for (const AttrField& f : n.op->fields)
      if (AttrValue v = f.get(n.attrs.get()); !std::holds_alternative<std::monostate>(v))
        f.set(out.get(), std::move(v));
    return out;
  }

  const Graph& source_;  // may be g_ itself
  Graph& g_;
  const CloneOptions& options_;
  std::unordered_map<ValueId, ValueId> own_;
  std::unordered_map<ValueId, ValueId>& values_;
};

}  // namespace

std::vector<ValueId> clone_body(const Graph& source, RegionId from, Graph& g, std::span<const ValueId> inputs,
                                RegionId into, NodeId before, const CloneOptions& options) {
  invariant(inputs.size() == source[from].inputs.size(), "a cloned body gets all its inputs");
  Cloner cloner(source, g, options);
  for (size_t i = 0; i < inputs.size(); ++i) cloner.map(source[from].inputs[i], inputs[i]);
  cloner.body(from, into, before);
  return cloner.mapped(source[from].outputs);
}

std::vector<ValueId> transplant_body(const Graph& source, RegionId from, Graph& g,
                                     std::unordered_map<ValueId, ValueId>& values) {
  const CloneOptions how;
  Cloner cloner(source, g, how, values);
  cloner.body(from, g.main(), {});
  return cloner.mapped(source[from].outputs);
}

RegionId clone_region(Graph& g, RegionId from, RegionId parent, NodeId owner, const CloneOptions& options) {
  return Cloner(g, g, options).region(from, parent, owner);
}

namespace {
std::string key_of(std::string_view domain, std::string_view name, std::string_view overload) {
  return cat(domain.size(), ":", name.size(), ":", domain, name, overload);
}
}  // namespace

FunctionTable::FunctionTable(std::span<const LocalFunction> functions) {
  for (const LocalFunction& f : functions) all_.emplace(key_of(f.domain, f.name, f.overload), &f);
}

const LocalFunction* FunctionTable::called_by(const Node& n) const {
  if (all_.empty() || !n.op->is_opaque()) return nullptr;
  const auto it = all_.find(key_of(n.op->domain, n.op->name, n.notes ? std::string_view(n.notes->overload) : ""));
  return it == all_.end() ? nullptr : it->second;
}

NamedAttrs call_bindings(const Node& call, const LocalFunction& f) {
  NamedAttrs out = call.extra ? *call.extra : NamedAttrs();
  for (const NamedAttr& a : f.attribute_defaults)
    if (!find_attr(out, a.name)) out.push_back(a);
  return out;
}

}  // namespace cameo::ir
