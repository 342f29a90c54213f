#include "ir/structure.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "ir/order.h"
#include "support/error.h"

namespace cameo::ir {

namespace {

struct Different {
  std::string what;
};
[[noreturn]] void differ(std::string what) { throw Different{std::move(what)}; }

class Sizes {
 public:
  bool same(Dim a, Dim b) {
    if (a.is_literal() || b.is_literal()) return a == b;
    if (a.is_symbol() && b.is_symbol()) return same_symbol(a, b);
    if (a == b || a.text() == b.text()) return true;
    if (symbols_of(a).size() != symbols_of(b).size()) return false;
    return parse_dim(scratch_, a.text()) == parse_dim(scratch_, b.text());  // the order of terms may differ
  }

  bool same(const Type& a, const Type& b) {
    if (a.kind != b.kind || a.elem != b.elem || !a.shape != !b.shape || !a.inner != !b.inner) return false;
    if (a.shape && !std::equal(a.shape->begin(), a.shape->end(), b.shape->begin(), b.shape->end(),
                               [this](Dim x, Dim y) { return same(x, y); }))
      return false;
    return !a.inner || same(*a.inner, *b.inner);
  }

 private:
  bool same_symbol(Dim a, Dim b) {
    const std::string x(symbol_name(a)), y(symbol_name(b));
    if (!is_fresh(a) && !is_fresh(b)) return x == y;
    const auto to = forth_.emplace(x, y).first;
    const auto back = back_.emplace(y, x).first;
    return to->second == y && back->second == x;
  }

  DimContext scratch_;
  std::unordered_map<std::string, std::string> forth_, back_;
};

bool same_floats(const float* a, const float* b, size_t n) {
  return n == 0 || std::memcmp(a, b, n * sizeof(float)) == 0;
}

bool same_weight(const std::shared_ptr<const Weight>& a, const std::shared_ptr<const Weight>& b) {
  if (!a || !b) return !a == !b;
  if (a == b || a->same_recipe(*b)) return true;
  if (a->dtype != b->dtype || a->shape != b->shape) return false;
  return a->dense() == b->dense();
}

class Comparison {
 public:
  Comparison(const Model& a, const Model& b, const StructureOptions& options)
      : a_(a.graph), b_(b.graph), options_(options), order_a_(a_), order_b_(b_) {}

  void models(const Model& a, const Model& b) {
    regions(a_.main(), b_.main(), "the graph", options_.interface_names);
    if (a.functions.size() != b.functions.size())
      differ(cat("there are ", a.functions.size(), " functions, and ", b.functions.size()));
    for (size_t i = 0; i < a.functions.size(); ++i) functions(a.functions[i], b.functions[i]);
    if (options_.notes && (a.doc != b.doc || a.metadata != b.metadata || a.producer_name != b.producer_name ||
                           a.domain != b.domain || a.producer_version != b.producer_version ||
                           a.model_version != b.model_version || a.ir_version != b.ir_version))
      differ("what the files say of the models differs");
  }

 private:
  void functions(const LocalFunction& a, const LocalFunction& b) {
    const std::string name = cat("function ", a.domain, ".", a.name);
    if (a.domain != b.domain || a.name != b.name || a.overload != b.overload)
      differ(cat(name, " against ", b.domain, ".", b.name));
    if (a.attributes != b.attributes) differ(cat("attributes of ", name));
    attributes(a.attribute_defaults, b.attribute_defaults, name);
    if (options_.notes && (a.doc != b.doc || a.metadata != b.metadata)) differ(cat("notes of ", name));
    in_function_ = true;
    regions(a.body, b.body, name, false);
    in_function_ = false;
  }

  // Functions have no initializers in a file: there a Constant node and an initializer are the same.
  std::vector<NodeId> ordered(const Graph& g, CanonicalOrder& canonical, RegionId r) const {
    auto order = canonical.nodes(r);
    if (in_function_)
      order.erase(std::remove_if(order.begin(), order.end(), [&](NodeId n) { return is_plain_constant(g, n); }),
                  order.end());
    return order;
  }
  static bool is_plain_constant(const Graph& g, NodeId n) {
    return g[n].is("Constant") && g[n].outputs.size() == 1 && g.constant(g[n].outputs[0]);
  }

  void regions(RegionId ra, RegionId rb, const std::string& where, bool names) {
    const Region &a = a_[ra], &b = b_[rb];
    if (a.inputs.size() != b.inputs.size())
      differ(cat(where, ": ", a.inputs.size(), " inputs against ", b.inputs.size()));
    if (a.outputs.size() != b.outputs.size())
      differ(cat(where, ": ", a.outputs.size(), " outputs against ", b.outputs.size()));
    if (a.initializers.size() != b.initializers.size() && !in_function_)
      differ(cat(where, ": ", a.initializers.size(), " initializers against ", b.initializers.size()));
    if (options_.notes && (a.name != b.name || a.doc != b.doc || a.metadata != b.metadata))
      differ(cat(where, ": notes differ"));
    for (size_t i = 0; i < a.inputs.size(); ++i) {
      pair(a.inputs[i], b.inputs[i], cat(where, ": input ", i));
      if (!same_weight(a_[a.inputs[i]].weight, b_[b.inputs[i]].weight)) differ(cat(where, ": default of input ", i));
    }
    const auto order_a = ordered(a_, order_a_, ra), order_b = ordered(b_, order_b_, rb);
    if (order_a.size() != order_b.size()) differ(cat(where, ": ", order_a.size(), " nodes against ", order_b.size()));
    for (size_t i = 0; i < order_a.size(); ++i) nodes(order_a[i], order_b[i]);
    for (size_t i = 0; i < a.outputs.size(); ++i) operands(a.outputs[i], b.outputs[i], cat(where, ": output ", i));
    if (!in_function_) unused_initializers(ra, rb, where);
    if (!names) return;
    for (const auto list : {&Region::inputs, &Region::outputs})
      for (size_t i = 0; i < (a.*list).size(); ++i)
        if (a_[(a.*list)[i]].name != b_[(b.*list)[i]].name)
          differ(cat(where, ": '", a_[(a.*list)[i]].name, "' is called '", b_[(b.*list)[i]].name, "'"));
  }

  void unused_initializers(RegionId ra, RegionId rb, const std::string& where) {
    const auto a = order_a_.initializers(ra), b = order_b_.initializers(rb);
    for (size_t i = 0; i < a.size(); ++i) operands(a[i], b[i], cat(where, ": initializer '", a_[a[i]].name, "'"));
  }

  std::string describe(NodeId n) const {
    for (const ValueId v : a_[n].outputs)
      if (!a_[v].name.empty()) return cat(a_[n].op->name, " -> '", a_[v].name, "'");
    return cat(a_[n].op->name, " #", n.index);
  }

  void nodes(NodeId na, NodeId nb) {
    const Node &a = a_[na], &b = b_[nb];
    const std::string where = describe(na);
    if (a.op->name != b.op->name || a.op->domain != b.op->domain || a.op->is_opaque() != b.op->is_opaque())
      differ(cat(where, " against ", b.op->name));
    if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size() ||
        a.regions.size() != b.regions.size())
      differ(cat(where, ": numbers of operands, outputs or bodies differ"));
    for (size_t i = 0; i < a.inputs.size(); ++i) operands(a.inputs[i], b.inputs[i], cat(where, ": operand ", i));
    for (const AttrField& f : a.op->fields)
      if (!same(f.get(a.attrs.get()), f.get(b.attrs.get()))) differ(cat(where, ": attribute ", f.name));
    static const NamedAttrs none;
    attributes(a.extra ? *a.extra : none, b.extra ? *b.extra : none, where);
    const NodeNotes no_notes, &notes_a = a.notes ? *a.notes : no_notes, &notes_b = b.notes ? *b.notes : no_notes;
    if (notes_a.overload != notes_b.overload) differ(cat(where, ": overloads"));
    if (options_.notes && (a.name != b.name || notes_a.doc != notes_b.doc || notes_a.metadata != notes_b.metadata))
      differ(cat(where, ": notes"));
    for (size_t i = 0; i < a.regions.size(); ++i) {
      if (!a.regions[i] != !b.regions[i]) differ(cat(where, ": body ", i, " is absent on one side"));
      if (a.regions[i]) regions(a.regions[i], b.regions[i], cat(where, ": body ", i), false);
    }
    for (size_t i = 0; i < a.outputs.size(); ++i) pair(a.outputs[i], b.outputs[i], cat(where, ": output ", i));
  }

  // Two values that correspond from here on.
  void pair(ValueId a, ValueId b, const std::string& where) {
    paired_.emplace(a, b);
    if (!partners_.insert(b).second) differ(cat(where, " is a value that stands for two"));
    const bool silent = (!a_.used(a) && a_[a].name.empty()) || (!b_.used(b) && b_[b].name.empty());
    if (options_.types && !silent && !sizes_.same(a_[a].fact.type, b_[b].fact.type))
      differ(cat(where, " has the type ", a_[a].fact.type.text(), " against ", b_[b].fact.type.text()));
    const auto has_metadata = [](const Value& v) { return v.metadata && !v.metadata->empty(); };
    if (options_.notes && (a_[a].doc != b_[b].doc || has_metadata(a_[a]) != has_metadata(b_[b]) ||
                           (has_metadata(a_[a]) && *a_[a].metadata != *b_[b].metadata)))
      differ(cat(where, ": notes"));
  }

  void operands(ValueId a, ValueId b, const std::string& where) {
    if (!a || !b) {
      if (a != b) differ(cat(where, " is absent on one side"));
      return;
    }
    if (const auto it = paired_.find(a); it != paired_.end()) {
      if (it->second != b) differ(cat(where, " is another value"));
      return;
    }
    if (in_function_ && a_.is_constant(a) && b_.is_constant(b)) {
      if (a_.constant(a) != b_.constant(b)) differ(cat(where, " is another constant"));
      paired_.emplace(a, b);  // their types follow
      return;
    }
    if (a_[a].kind != Value::Kind::initializer || b_[b].kind != Value::Kind::initializer)
      differ(cat(where, " is another value"));
    if (!same_weight(a_[a].weight, b_[b].weight)) differ(cat(where, " is another constant"));
    pair(a, b, where);
  }

  void attributes(const NamedAttrs& a, const NamedAttrs& b, const std::string& where) {
    const auto sorted = [](const NamedAttrs& attrs) {
      std::vector<const NamedAttr*> out;
      for (const NamedAttr& x : attrs) out.push_back(&x);
      std::stable_sort(out.begin(), out.end(),
                       [](const NamedAttr* x, const NamedAttr* y) { return x->name < y->name; });
      return out;
    };
    const auto x = sorted(a), y = sorted(b);
    if (x.size() != y.size()) differ(cat(where, ": numbers of attributes"));
    for (size_t i = 0; i < x.size(); ++i)
      if (x[i]->name != y[i]->name || !same(x[i]->value, y[i]->value)) differ(cat(where, ": attribute ", x[i]->name));
  }

  bool same(const AttrValue& a, const AttrValue& b) {
    if (a.index() != b.index()) return false;
    if (const auto* f = std::get_if<float>(&a)) return same_floats(f, std::get_if<float>(&b), 1);
    if (const auto* f = std::get_if<std::vector<float>>(&a)) {
      const auto& g = std::get<std::vector<float>>(b);
      return f->size() == g.size() && same_floats(f->data(), g.data(), g.size());
    }
    if (const auto* t = std::get_if<Type>(&a)) return sizes_.same(*t, std::get<Type>(b));
    if (const auto* t = std::get_if<std::vector<Type>>(&a)) {
      const auto& u = std::get<std::vector<Type>>(b);
      return std::equal(t->begin(), t->end(), u.begin(), u.end(),
                        [this](const Type& x, const Type& y) { return sizes_.same(x, y); });
    }
    return a == b;
  }

  const Graph &a_, &b_;
  const StructureOptions& options_;
  CanonicalOrder order_a_, order_b_;
  Sizes sizes_;
  bool in_function_ = false;
  std::unordered_map<ValueId, ValueId> paired_;
  std::unordered_set<ValueId> partners_;
};

}  // namespace

std::optional<std::string> structural_difference(const Model& a, const Model& b, const StructureOptions& options) {
  try {
    Comparison(a, b, options).models(a, b);
    return std::nullopt;
  } catch (const Different& d) {
    return d.what;
  }
}

}  // namespace cameo::ir
