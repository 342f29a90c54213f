#include "backends/text/print.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "backends/text/header.h"
#include "ir/order.h"
#include "ir/value_names.h"
#include "ops/op_def.h"
#include "ops/versions.h"
#include "ir/text/writer.h"
#include "support/budget.h"
#include "support/error.h"
#include "support/text.h"

namespace cameo::backends {

namespace {

struct DimHash {
  size_t operator()(Dim d) const { return d.hash(); }
};

class Printer {
 public:
  Printer(const Graph& g, const PrintOptions& o)
      : w_({o.max_elements, o.tensors, o.onnx_only ? text::Dialect::onnx_only : text::Dialect::readable}),
        g_(g),
        o_(o),
        canonical_(g),
        names_(value_names(g, o.canonical_order ? NodeOrder::canonical : NodeOrder::listed)) {
    count_unknown_sizes();
    w_.is_open = [this](Dim d) { return d.is_symbol() && is_fresh(d) && unknown_[d] <= 1; };
  }

  void model(const Model& m) {
    if (o_.header) {
      write_header(w_, m, opsets(m.opsets), m.metadata);
      line();
    }
    graph(g_.main());
    for (const LocalFunction& f : m.functions) {
      line();
      function(f, m);
    }
    if (!o_.one_line) w_ << '\n';
  }

  void graph(RegionId r) {
    const Region& region = g_[r];
    if (o_.notes) w_.notes("<", region.doc, region.metadata, "> ");
    w_.name(region.name);
    w_ << " (";
    w_.separated(region.inputs, [&](ValueId v) { declaration(v, true); });
    w_ << ") => (";
    w_.separated(region.outputs, [&](ValueId v) { declaration(v, false); });
    w_ << ')';
    body(r);
  }

  std::string take() { return std::move(w_.out); }

 private:
  // An unknown size that appears only once is '?' instead of a made-up name.
  void count_unknown_sizes() {
    for (uint32_t i = 0; i < g_.value_capacity(); ++i)
      if (g_[ValueId(i)].kind != Value::Kind::dead) count_sizes(g_[ValueId(i)].fact.type);
  }
  void count_sizes(const Type& t) {
    if (t.shape)
      for (const Dim d : *t.shape)
        if (!d.is_literal())
          for (const Dim s : symbols_of(d))
            if (is_fresh(s)) ++unknown_[s];
    if (t.inner) count_sizes(*t.inner);
  }

  // The versions the nodes are printed in: the newest of every domain whose operators Cameo knows.
  TextOpsets opsets(std::map<std::string, int64_t> imports) const {
    for (uint32_t i = 0; i < g_.node_capacity(); ++i)
      if (const Node& n = g_[NodeId(i)]; !n.dead && !n.op->is_opaque()) imports.emplace(n.op->domain, 0);
    imports.emplace("", 0);
    TextOpsets out;
    for (const auto& [domain, version] : imports) out.emplace_back(domain, std::max(version, newest_version(domain)));
    return out;
  }

  void declaration(ValueId v, bool with_default) {
    const Value& value = g_[v];
    w_.value(value.fact.type, names_[v.index]);
    static const text::StringPairs none;
    if (o_.notes) w_.notes(" [", value.doc, value.metadata ? *value.metadata : none, "]");
    if (!with_default || !value.weight) return;
    w_ << " = ";
    w_.tensor_data(value.weight->dense());
  }

  // Initializers and types in < >, then the nodes in { }.
  void body(RegionId r) {
    std::vector<NodeId> order;
    if (o_.canonical_order) order = canonical_.nodes(r);
    else
      for (const NodeId n : g_.nodes(r)) order.push_back(n);
    std::vector<ValueId> values, constants;
    if (!function_ || function_ != r) values = o_.canonical_order ? canonical_.initializers(r) : g_[r].initializers;
    else if (function_ == r) constants = function_constants(r);
    const auto& outputs = g_[r].outputs;
    const auto is_output = [&](ValueId v) { return std::find(outputs.begin(), outputs.end(), v) != outputs.end(); };
    if (o_.value_info)
      for (const NodeId n : order)
        for (const ValueId v : g_[n].outputs) {
          const bool says = !g_[v].fact.type.is_unknown() || !g_[v].doc.empty() || g_[v].metadata;
          if (says && !names_[v.index].empty() && !is_output(v)) values.push_back(v);
        }
    if (!values.empty()) {
      line();
      w_ << '<';
      w_.separated(values, [&](ValueId v) { declaration(v, g_[v].kind == Value::Kind::initializer); });
      w_ << '>';
    }
    if (values.empty() || o_.one_line) w_ << ' ';
    else line();
    w_ << '{';
    ++indent_;
    for (const ValueId v : constants) {
      line();
      w_.name(names_[v.index]);
      w_ << " = Constant<value=";
      w_.tensor(g_[v].weight->dense());
      w_ << ">()";
    }
    for (const NodeId n : order) {
      line();
      node(n);
      if (!o_.comment || o_.one_line) continue;
      if (const std::string said = o_.comment(n); !said.empty())
        w_ << "  # " << printable(said);  // a line break would end the comment
    }
    --indent_;
    line();
    w_ << '}';
  }

  // Functions have no initializers in ONNX: those of the body, and of the model where an upgrade put them
  // there, are printed as nodes.
  std::vector<ValueId> function_constants(RegionId r) {
    std::vector<ValueId> out = canonical_.initializers(r);
    const auto add = [&](ValueId v) {
      if (v && g_[v].kind == Value::Kind::initializer && std::find(out.begin(), out.end(), v) == out.end())
        out.push_back(v);
    };
    for (const ValueId v : canonical_.captured(r)) add(v);
    return out;
  }

  void node(NodeId id) {
    support::checkpoint();
    const Node& n = g_[id];
    label(n);
    w_.separated(n.outputs, [&](ValueId v) { w_.name(names_[v.index]); });
    w_ << " = ";
    w_.op_name(n.op->domain, n.op->name, n.notes ? n.notes->overload : "");
    const bool has_bodies = std::any_of(n.regions.begin(), n.regions.end(), [](RegionId r) { return r.valid(); });
    if (!has_bodies) attributes(n, "<");
    w_ << '(';
    w_.separated(n.inputs, [&](ValueId v) { v ? w_.name(names_[v.index]) : w_.quoted(""); });
    w_ << ')';
    if (has_bodies) attributes(n, " <");
  }

  void label(const Node& n) {
    if (!o_.notes) return;
    static const NodeNotes none;
    const NodeNotes& notes = n.notes ? *n.notes : none;
    const bool more = !o_.onnx_only && (!notes.doc.empty() || !notes.metadata.empty());
    if (n.name.empty() && !more) return;
    w_ << '[';
    w_.name(n.name);
    w_.notes(", ", notes.doc, notes.metadata, "");
    w_ << "] ";
  }

  void attributes(const Node& n, std::string_view open) {
    bool any = false;
    const auto next = [&] {
      w_ << (any ? ", " : open);
      any = true;
    };
    const auto has_reference = [&](std::string_view name) { return n.extra && find_attr(*n.extra, name); };
    for (const AttrField& f : n.op->fields) {
      if ((f.is_default(n.attrs.get()) && !f.required) || has_reference(f.name)) continue;
      const AttrValue v = f.get(n.attrs.get());
      if (v.index() == 0) continue;
      next();
      w_.attribute(f.name, v);
    }
    if (n.extra)
      for (const NamedAttr& a : *n.extra) {
        if (a.value.index() == 0) continue;
        next();
        w_.attribute(a.name, a.value);
      }
    for (const auto& [name, regions] : bodies(n)) {
      next();
      w_.name(name);
      w_ << (regions.size() > 1 ? " = [" : " = ");
      w_.separated(regions, [&](RegionId r) { graph(r); });
      if (regions.size() > 1) w_ << ']';
    }
    if (any) w_ << '>';
  }

  // Region attributes by name, in order; an opaque operator may hold a list of them under one.
  static std::vector<std::pair<std::string_view, std::vector<RegionId>>> bodies(const Node& n) {
    std::vector<std::pair<std::string_view, std::vector<RegionId>>> out;
    const auto add = [&](std::string_view name, RegionId r) {
      if (!r) return;
      if (out.empty() || out.back().first != name) out.emplace_back(name, std::vector<RegionId>());
      out.back().second.push_back(r);
    };
    size_t next = 0;
    if (!n.op->is_opaque())
      for (; next < n.op->graph_attrs.size() && next < n.regions.size(); ++next)
        add(n.op->graph_attrs[next], n.regions[next]);
    else if (n.extra)
      for (const NamedAttr& a : *n.extra)
        if (a.value.index() == 0 && next < n.regions.size()) add(a.name, n.regions[next++]);
    return out;
  }

  void function(const LocalFunction& f, const Model& m) {
    w_ << "<domain: ";
    w_.quoted(f.domain);
    if (!f.overload.empty()) w_ << ", overload: ", w_.quoted(f.overload);
    w_ << ", opset_import: ";
    write_opsets(w_, opsets(f.opsets.empty() ? m.opsets : f.opsets));
    if (o_.notes) w_.notes(", ", f.doc, f.metadata, "");
    w_ << '>';
    line();
    w_.name(f.name);
    if (!f.attributes.empty() || !f.attribute_defaults.empty()) {
      w_ << " <";
      w_.separated(f.attributes, [&](const std::string& a) { w_.name(a); });
      if (!f.attributes.empty() && !f.attribute_defaults.empty()) w_ << ", ";
      w_.separated(f.attribute_defaults, [&](const NamedAttr& a) { w_.attribute(a.name, a.value); });
      w_ << '>';
    }
    const Region& r = g_[f.body];
    w_ << " (";
    w_.separated(r.inputs, [&](ValueId v) { declaration(v, false); });
    w_ << ") => (";
    w_.separated(r.outputs, [&](ValueId v) { declaration(v, false); });
    w_ << ')';
    function_ = f.body;
    body(f.body);
    function_ = {};
  }

  void line() {
    if (o_.one_line) return void(w_ << ' ');
    w_.new_line(indent_);
  }

  text::Writer w_;
  const Graph& g_;
  const PrintOptions& o_;
  CanonicalOrder canonical_;
  std::vector<std::string> names_;
  std::unordered_map<Dim, size_t, DimHash> unknown_;
  RegionId function_;  // whose body is being printed
  size_t indent_ = 0;
};

}  // namespace

std::string print_text(const Model& m, const PrintOptions& options) {
  Printer p(m.graph, options);
  p.model(m);
  return p.take();
}

std::string print_text(const Graph& g, const PrintOptions& options) {
  Printer p(g, options);
  p.graph(g.main());
  return p.take();
}

}  // namespace cameo::backends
