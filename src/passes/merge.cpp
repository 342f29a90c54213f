#include "passes/merge.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ops/infer.h"
#include "passes/edit.h"
#include "support/budget.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

class Copier {
 public:
  Copier(const Graph& from, Graph& to) : from_(from), to_(to) {
    for (uint32_t i = 0; i < to.value_capacity(); ++i)
      if (to[ValueId(i)].kind != Value::Kind::dead) taken_.insert(to[ValueId(i)].name);
    for (uint32_t i = 0; i < to.node_capacity(); ++i)
      if (!to[NodeId(i)].dead) node_names_.insert(to[NodeId(i)].name);
  }

  void bind(ValueId theirs, ValueId ours) { values_[theirs.index] = ours; }
  ValueId of(ValueId theirs) const { return theirs ? values_.at(theirs.index) : ValueId(); }
  // A size of the second model that is this one here.
  void bind_size(Dim theirs, Dim ours) {
    if (theirs.is_symbol()) sizes_.emplace(std::string(symbol_name(theirs)), ours);
  }

  ValueId input(ValueId v, RegionId into) {
    const ValueId copy = to_.add_input(into, unique(from_[v].name, taken_), type(from_[v].fact.type));
    to_.set_weight(copy, from_[v].weight);
    notes(v, copy);
    return values_[v.index] = copy;
  }

  // Initializers and nodes; inputs must be bound already.
  void body(RegionId from, RegionId into) {
    for (const ValueId v : from_[from].initializers) {
      values_[v.index] = to_.add_initializer(into, unique(from_[v].name, taken_), from_[v].weight);
      to_.label(values_[v.index]).synthetic = from_[v].synthetic;
      notes(v, values_[v.index]);
    }
    for (const NodeId n : from_.nodes(from)) support::checkpoint(), node(n, into);
  }

  RegionId region(RegionId from, RegionId parent, NodeId owner) {
    const RegionId into = to_.add_region(parent, owner);
    to_.label(into).name = from_[from].name;
    to_.label(into).doc = from_[from].doc;
    to_.label(into).metadata = from_[from].metadata;
    for (const ValueId v : from_[from].inputs) input(v, into);
    body(from, into);
    std::vector<ValueId> outputs;
    for (const ValueId v : from_[from].outputs) outputs.push_back(of(v));
    to_.set_region_outputs(into, std::move(outputs));
    return into;
  }

  Type type(const Type& t) {
    Type out = t;
    if (out.shape)
      for (Dim& d : *out.shape) d = dim(d);
    if (t.inner) out.inner = std::make_shared<const Type>(type(*t.inner));
    return out;
  }

 private:
  void node(NodeId id, RegionId into) {
    const Node& n = from_[id];
    std::vector<ValueId> inputs;
    for (const ValueId v : n.inputs) inputs.push_back(of(v));
    const NodeId copy = to_.add_node(into, *n.op, attributes(n), std::move(inputs), n.outputs.size());
    to_.set_name(copy, unique(n.name, node_names_));
    to_.set_notes(copy, n.notes);
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      const ValueId ours = to_[copy].outputs[i];
      values_[n.outputs[i].index] = ours;
      to_.label(ours).name = unique(from_[n.outputs[i]].name, taken_);
      to_.fact(ours).type = type(from_[n.outputs[i]].fact.type);
      notes(n.outputs[i], ours);
    }
    for (size_t i = 0; i < n.regions.size(); ++i)
      if (n.regions[i]) to_.set_region(copy, i, region(n.regions[i], into, copy));
    if (!n.extra) return;
    NamedAttrs extra = *n.extra;
    for (NamedAttr& a : extra) translate(a.value);
    to_.set_extra(copy, std::move(extra));
  }

  // Types that are attributes speak of sizes as well.
  bool translate(AttrValue& v) {
    if (auto* t = std::get_if<Type>(&v)) return *t = type(*t), true;
    auto* all = std::get_if<std::vector<Type>>(&v);
    if (!all) return false;
    for (Type& t : *all) t = type(t);
    return true;
  }

  std::shared_ptr<const void> attributes(const Node& n) {
    const auto is_of_types = [](const AttrField& f) { return f.kind == AttrKind::type || f.kind == AttrKind::types; };
    if (n.op->is_opaque() || std::none_of(n.op->fields.begin(), n.op->fields.end(), is_of_types)) return n.attrs;
    auto out = n.op->make();
    for (const AttrField& f : n.op->fields) {
      AttrValue v = f.get(n.attrs.get());
      translate(v);
      if (!std::holds_alternative<std::monostate>(v)) f.set(out.get(), std::move(v));
    }
    return out;
  }

  void notes(ValueId theirs, ValueId ours) {
    to_.label(ours).doc = from_[theirs].doc;
    to_.label(ours).metadata = from_[theirs].metadata;
  }

  Dim dim(Dim d) {
    if (d.is_literal()) return d;
    std::vector<Substitution> map;
    if (!d.is_symbol()) {  // an expression: written in the second model's symbols, read in ours
      try {
        const Dim read = parse_dim(to_.dims(), d.text());
        for (const Dim s : symbols_of(d)) map.push_back({to_.dims().symbol(symbol_name(s), symbol_kind(s)), dim(s)});
        return substitute(read, map);
      } catch (const Error&) {
        return to_.dims().fresh();
      }
    }
    const std::string name(symbol_name(d));
    if (const auto it = sizes_.find(name); it != sizes_.end()) return it->second;
    Dim ours;
    if (is_fresh(d)) ours = to_.dims().fresh();
    else if (!to_.dims().has_symbol(name)) ours = to_.dims().symbol(name, symbol_kind(d));
    else {
      int i = 1;
      while (to_.dims().has_symbol(cat(name, "_", i))) ++i;
      ours = to_.dims().symbol(cat(name, "_", i), symbol_kind(d));
    }
    return sizes_.emplace(name, ours).first->second;
  }

  static std::string unique(const std::string& name, std::set<std::string>& taken) {
    if (name.empty() || taken.insert(name).second) return name;
    for (int i = 1;; ++i)
      if (taken.insert(cat(name, "_", i)).second) return cat(name, "_", i);
  }

  const Graph& from_;
  Graph& to_;
  std::unordered_map<uint32_t, ValueId> values_;
  std::unordered_map<std::string, Dim> sizes_;
  std::set<std::string> taken_, node_names_;
};

ValueId named(const Graph& g, const std::vector<ValueId>& list, const std::string& name, std::string_view what) {
  std::string names;
  for (const ValueId v : list) {
    if (g[v].name == name) return v;
    names += cat(names.empty() ? "" : ", ", g[v].name);
  }
  throw error("edit.merge", cat("the ", what, " '", name, "' does not exist")).help(cat("there are: ", names));
}

void connect(Copier& copy, const Graph& g, ValueId from, const Graph& other, ValueId to) {
  const Type &a = g[from].fact.type, &b = other[to].fact.type;
  bool fits = a.is_unknown() || b.is_unknown() || a.onnx_text() == b.onnx_text();
  if (fits && a.has_rank() && b.has_rank()) {
    fits = a.rank() == b.rank();
    for (size_t i = 0; fits && i < a.shape->size(); ++i) {
      const Dim x = (*a.shape)[i], y = (*b.shape)[i];
      if (x.is_literal() && y.is_literal() && x != y) fits = false;
      copy.bind_size(y, x);
    }
  }
  if (!fits)
    throw error("edit.merge", cat("'", g[from].name, "' is ", a.text(), " and cannot be connected with '",
                                  other[to].name, "', which is ", b.text()));
  copy.bind(to, from);
}

void merge_functions(Model& a, const Model& b, Copier& copy) {
  for (const LocalFunction& f : b.functions) {
    for (const LocalFunction& mine : a.functions)
      if (mine.domain == f.domain && mine.name == f.name && mine.overload == f.overload)
        throw error("edit.merge", cat("both models define the function ", f.domain, ".", f.name));
    LocalFunction g = f;
    g.body = copy.region(f.body, {}, {});
    a.functions.push_back(std::move(g));
  }
}

}  // namespace

void merge(Model& a, const Model& b, const MergeOptions& options) {
  Graph& g = a.graph;
  const Graph& other = b.graph;
  infer(g, a.functions);
  Copier copy(other, g);
  std::set<uint32_t> connected_outputs;
  std::set<uint32_t> connected_inputs;
  for (const auto& [from, to] : options.connect) {
    const ValueId out = named(g, g[g.main()].outputs, from, "output"),
                  in = named(other, other[other.main()].inputs, to, "input");
    if (!connected_inputs.insert(in.index).second)
      throw error("edit.merge", cat("the input '", to, "' is connected twice"));
    connect(copy, g, out, other, in);
    connected_outputs.insert(out.index);
  }
  for (const ValueId v : other[other.main()].inputs)
    if (!connected_inputs.count(v.index)) copy.input(v, g.main());
  copy.body(other.main(), g.main());
  merge_functions(a, b, copy);
  std::vector<ValueId> outputs;
  for (const ValueId v : g[g.main()].outputs)
    if (options.keep_connected || !connected_outputs.count(v.index)) outputs.push_back(v);
  for (const ValueId v : other[other.main()].outputs) outputs.push_back(copy.of(v));
  g.set_region_outputs(g.main(), std::move(outputs));
  for (const auto& [domain, version] : b.opsets) a.opsets[domain] = std::max(a.opsets[domain], version);
  a.ir_version = std::max(a.ir_version, b.ir_version);
  for (const auto& entry : b.metadata)
    if (std::none_of(a.metadata.begin(), a.metadata.end(), [&](const auto& p) { return p.first == entry.first; }))
      a.metadata.push_back(entry);
}

}  // namespace cameo::passes
