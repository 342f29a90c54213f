#include "ir/equal.h"

#include <unordered_map>

#include "support/error.h"

namespace cameo::ir {

namespace {

using Answer = std::optional<std::string>;

// Dims of two contexts: by their text, which is canonical.
bool same_dim(Dim a, Dim b) {
  if (a.is_literal() || b.is_literal()) return a == b;
  const bool fresh_a = mentions_fresh(a), fresh_b = mentions_fresh(b);
  return fresh_a || fresh_b ? fresh_a == fresh_b : a.text() == b.text();
}

bool same_type(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.elem != b.elem || !a.inner != !b.inner || a.shape.has_value() != b.shape.has_value())
    return false;
  if (a.inner && !same_type(*a.inner, *b.inner)) return false;
  if (!a.shape) return true;
  if (a.shape->size() != b.shape->size()) return false;
  for (size_t i = 0; i < a.shape->size(); ++i)
    if (!same_dim((*a.shape)[i], (*b.shape)[i])) return false;
  return true;
}

bool same_attr(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* t = std::get_if<Type>(&a)) return same_type(*t, std::get<Type>(b));
  if (const auto* f = std::get_if<float>(&a))
    return *f == std::get<float>(b) || (*f != *f && std::get<float>(b) != std::get<float>(b));
  if (const auto* list = std::get_if<std::vector<Type>>(&a)) {
    const auto& other = std::get<std::vector<Type>>(b);
    for (size_t i = 0; i < list->size(); ++i)
      if (i >= other.size() || !same_type((*list)[i], other[i])) return false;
    return list->size() == other.size();
  }
  return a == b;
}

bool same_attrs(const NamedAttrs* a, const NamedAttrs* b) {
  if (!a || !b) return (!a || a->empty()) && (!b || b->empty());
  if (a->size() != b->size()) return false;
  for (const NamedAttr& x : *a)
    if (const AttrValue* y = find_attr(*b, x.name); !y || !same_attr(x.value, *y)) return false;
  return true;
}

bool same_weight(const Weight* a, const Weight* b) {
  if (!a || !b) return !a && !b;
  return a->same_recipe(*b) || (a->dtype == b->dtype && a->shape == b->shape && a->dense() == b->dense());
}

class Comparison {
 public:
  Comparison(const Graph& a, const Graph& b, const EqualOptions& options) : a_(a), b_(b), options_(options) {}

  Answer regions(RegionId ra, RegionId rb) {
    const Region &x = a_[ra], &y = b_[rb];
    if (options_.names && x.name != y.name) return cat("graphs '", x.name, "' and '", y.name, "'");
    if (options_.notes && (x.doc != y.doc || x.metadata != y.metadata)) return cat("notes of graph '", x.name, "'");
    if (x.inputs.size() != y.inputs.size()) return cat(x.inputs.size(), " and ", y.inputs.size(), " inputs");
    for (size_t i = 0; i < x.inputs.size(); ++i)
      if (auto d = define(x.inputs[i], y.inputs[i])) return cat("input ", i, ": ", *d);
    if (auto d = initializers(ra, rb)) return d;
    NodeId m = y.first;
    for (NodeId n = x.first; n || m; n = a_[n].next, m = b_[m].next) {
      if (!n || !m) return cat("one graph has more nodes, from ", n ? a_[n].op->name : b_[m].op->name);
      if (auto d = nodes(n, m)) return cat(a_[n].op->name, " '", a_[n].name, "': ", *d);
    }
    return operands(x.outputs, y.outputs, "output");
  }

 private:
  Answer initializers(RegionId ra, RegionId rb) {
    const auto visible = [](const Graph& g, RegionId r) {
      std::vector<ValueId> out;
      for (const ValueId v : g[r].initializers)
        if (!g[v].synthetic) out.push_back(v);
      return out;
    };
    const auto x = visible(a_, ra), y = visible(b_, rb);
    if (x.size() != y.size()) return cat(x.size(), " and ", y.size(), " initializers");
    for (size_t i = 0; i < x.size(); ++i)
      if (auto d = define(x[i], y[i])) return cat("initializer ", i, ": ", *d);
    return {};
  }

  Answer define(ValueId x, ValueId y) {
    map_[x] = y;
    const Value &v = a_[x], &w = b_[y];
    if (options_.names && v.name != w.name) return cat("names '", v.name, "' and '", w.name, "'");
    if (options_.types && !same_type(v.fact.type, w.fact.type))
      return cat("types ", v.fact.type.text(), " and ", w.fact.type.text());
    if (!same_weight(v.weight.get(), w.weight.get())) return cat("data of '", v.name, "'");
    return {};
  }

  bool same_operand(ValueId x, ValueId y) const {
    if (!x || !y) return !x && !y;
    if (const auto it = map_.find(x); it != map_.end()) return it->second == y;
    const Value &v = a_[x], &w = b_[y];
    if (v.weight && w.weight && (v.synthetic || w.synthetic)) return same_weight(v.weight.get(), w.weight.get());
    return v.name == w.name;
  }

  Answer operands(const std::vector<ValueId>& x, const std::vector<ValueId>& y, std::string_view what) const {
    if (x.size() != y.size()) return cat(x.size(), " and ", y.size(), " ", what, "s");
    for (size_t i = 0; i < x.size(); ++i)
      if (!same_operand(x[i], y[i])) return cat(what, " ", i);
    return {};
  }

  Answer nodes(NodeId n, NodeId m) {
    const Node &x = a_[n], &y = b_[m];
    if (x.op->domain != y.op->domain || x.op->name != y.op->name)
      return cat("operators ", x.op->name, " and ", y.op->name);
    if (options_.names && x.name != y.name) return cat("names '", x.name, "' and '", y.name, "'");
    if (auto d = operands(x.inputs, y.inputs, "input")) return d;
    for (const AttrField& f : x.op->fields)
      if (!same_attr(f.get(x.attrs.get()), f.get(y.attrs.get()))) return cat("attribute '", f.name, "'");
    if (!same_attrs(x.extra.get(), y.extra.get())) return "further attributes";
    if (x.outputs.size() != y.outputs.size()) return cat(x.outputs.size(), " and ", y.outputs.size(), " outputs");
    for (size_t i = 0; i < x.outputs.size(); ++i)
      if (auto d = define(x.outputs[i], y.outputs[i])) return cat("output ", i, ": ", *d);
    if (x.regions.size() != y.regions.size()) return "number of bodies";
    for (size_t i = 0; i < x.regions.size(); ++i) {
      if (x.regions[i].valid() != y.regions[i].valid()) return cat("body ", i);
      if (!x.regions[i]) continue;
      if (auto d = regions(x.regions[i], y.regions[i])) return cat("body ", i, ": ", *d);
    }
    return {};
  }

  const Graph &a_, &b_;
  const EqualOptions& options_;
  std::unordered_map<ValueId, ValueId> map_;
};

}  // namespace

std::optional<std::string> difference(const Graph& a, RegionId ra, const Graph& b, RegionId rb,
                                      const EqualOptions& options) {
  return Comparison(a, b, options).regions(ra, rb);
}

std::optional<std::string> difference(const Model& a, const Model& b, const EqualOptions& options) {
  if (a.opsets != b.opsets) return "opset imports";
  if (options.notes &&
      (a.producer_name != b.producer_name || a.producer_version != b.producer_version || a.domain != b.domain ||
       a.doc != b.doc || a.model_version != b.model_version || a.metadata != b.metadata))
    return "notes of the model";
  if (a.functions.size() != b.functions.size()) return "number of functions";
  for (size_t i = 0; i < a.functions.size(); ++i) {
    const LocalFunction &f = a.functions[i], &h = b.functions[i];
    if (f.domain != h.domain || f.name != h.name || f.overload != h.overload || f.opsets != h.opsets ||
        f.attributes != h.attributes || !same_attrs(&f.attribute_defaults, &h.attribute_defaults))
      return cat("function ", f.name);
    if (auto d = difference(a.graph, f.body, b.graph, h.body, options)) return cat("function ", f.name, ": ", *d);
  }
  return difference(a.graph, a.graph.main(), b.graph, b.graph.main(), options);
}

}  // namespace cameo::ir
