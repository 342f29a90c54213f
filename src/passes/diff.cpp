#include "passes/diff.h"

#include <cmath>
#include <map>
#include <set>

#include "ops/infer.h"
#include "support/error.h"

namespace cameo::passes {

namespace {

std::string attr_text(const AttrValue& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return cat(*i);
  if (const auto* f = std::get_if<float>(&v)) return cat(*f);
  if (const auto* s = std::get_if<std::string>(&v)) return cat("\"", *s, "\"");
  if (std::holds_alternative<std::monostate>(v)) return "absent";
  std::string out = "[";
  if (const auto* list = std::get_if<std::vector<int64_t>>(&v)) {
    for (size_t i = 0; i < list->size() && i < 16; ++i) out += cat(i ? ", " : "", (*list)[i]);
    return out + (list->size() > 16 ? ", ...]" : "]");
  }
  if (const auto* list = std::get_if<std::vector<float>>(&v)) {
    for (size_t i = 0; i < list->size() && i < 16; ++i) out += cat(i ? ", " : "", (*list)[i]);
    return out + (list->size() > 16 ? ", ...]" : "]");
  }
  return cat("(", name(kind_of(v)), ")");
}

class Matcher {
 public:
  Matcher(const Model& a, const Model& b, const DiffOptions& options) : a_(a.graph), b_(b.graph), options_(options) {}

  std::vector<Difference> found;

  void models(const Model& a, const Model& b) {
    for (const auto& [domain, version] : a.opsets) {
      const auto it = b.opsets.find(domain);
      if (it == b.opsets.end() || it->second != version)
        add(cat("opset of ", domain.empty() ? "ai.onnx" : domain, ": ", version, " and ",
                it == b.opsets.end() ? "none" : cat(it->second)));
    }
    for (const auto& [domain, version] : b.opsets)
      if (!a.opsets.count(domain)) add(cat("opset of ", domain.empty() ? "ai.onnx" : domain, ": none and ", version));
    if (a.functions.size() != b.functions.size())
      add(cat("local functions: ", a.functions.size(), " and ", b.functions.size()));
    regions(a_.main(), b_.main(), "the model");
    counts();
  }

 private:
  void add(std::string what, ValueId a = {}, ValueId b = {}) {
    if (found.size() < options_.limit) found.push_back({std::move(what), a ? a_[a].name : "", b ? b_[b].name : ""});
  }

  void regions(RegionId ra, RegionId rb, const std::string& what) {
    const Region &a = a_[ra], &b = b_[rb];
    if (a.inputs.size() != b.inputs.size())
      add(cat("inputs of ", what, ": ", a.inputs.size(), " and ", b.inputs.size()));
    if (a.outputs.size() != b.outputs.size())
      add(cat("outputs of ", what, ": ", a.outputs.size(), " and ", b.outputs.size()));
    for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i) types(a.inputs[i], b.inputs[i], "input");
    for (size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
      if (ra == a_.main()) types(a.outputs[i], b.outputs[i], "output");
      work_.emplace_back(a.outputs[i], b.outputs[i]);
    }
    while (!work_.empty()) {
      const auto [x, y] = work_.back();
      work_.pop_back();
      values(x, y);
    }
  }

  void types(ValueId a, ValueId b, std::string_view what) {
    const Type &x = a_[a].fact.type, &y = b_[b].fact.type;
    if (x.text() != y.text() && !(unnamed(x) == unnamed(y)))
      add(cat("type of an ", what, ": ", x.text(), " and ", y.text()), a, b);
  }

  // Sizes by name differ when their names do; names do not count.
  static std::string unnamed(const Type& t) {
    if (!t.has_rank()) return t.text();
    std::string out = t.onnx_text();
    for (const Dim d : *t.shape) out += d.is_literal() ? cat(",", d.literal()) : ",?";
    return out;
  }

  void values(ValueId x, ValueId y) {
    if (!x != !y) return add("an operand is present in only one model", x, y);
    if (!x || !seen_.insert({x.index, y.index}).second) return;
    const Value &a = a_[x], &b = b_[y];
    if (const auto it = pair_.emplace(x.index, y.index).first; it->second != y.index)
      return add("a value is shared in one model and not in the other", x, y);
    const bool wa = a.weight != nullptr, wb = b.weight != nullptr;
    if (wa || wb) return wa && wb ? weights(x, y) : wa ? constant_or(x, y, true) : constant_or(x, y, false);
    if (!a.def && !b.def) {
      if (a.def_index != b.def_index)
        add(cat("another input is read: number ", a.def_index, " and ", b.def_index), x, y);
      return;
    }
    if (!a.def || !b.def) {
      if (a.def) return skip(x, y, true);
      return skip(x, y, false);
    }
    nodes(x, y);
  }

  // A weight on one side may be a Constant node on the other.
  void constant_or(ValueId x, ValueId y, bool weight_in_a) {
    const auto ta = a_.constant(x), tb = b_.constant(y);
    if (ta && tb) {
      if (!(*ta == *tb)) add("a constant differs", x, y);
      return;
    }
    if (weight_in_a) skip(x, y, false);
    else skip(x, y, true);
  }

  void nodes(ValueId x, ValueId y) {
    const Node &a = a_[a_[x].def], &b = b_[b_[y].def];
    if (a.op->name != b.op->name || a.op->domain != b.op->domain) {
      const auto op_at = [](const Graph& g, ValueId v) {
        return v && g[v].def ? g[g[v].def].op->name : std::string_view();
      };
      if (!b.inputs.empty() && op_at(b_, b.inputs[0]) == a.op->name) return skip(x, y, false);
      if (!a.inputs.empty() && op_at(a_, a.inputs[0]) == b.op->name) return skip(x, y, true);
      add(cat(describe(a_, a_[x].def), " is ", describe(b_, b_[y].def)), x, y);
      for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i)
        work_.emplace_back(a.inputs[i], b.inputs[i]);
      return;
    }
    if (a_[x].def_index != b_[y].def_index)
      add(cat("another output of ", a.op->name, " is read: number ", a_[x].def_index, " and ", b_[y].def_index), x, y);
    if (!node_pairs_.insert({a_[x].def.index, b_[y].def.index}).second) return;
    attributes(a, b, x, y);
    if (a.inputs.size() != b.inputs.size())
      add(cat(describe(a_, a_[x].def), " has ", a.inputs.size(), " inputs and ", b.inputs.size()), x, y);
    for (size_t i = std::min(a.inputs.size(), b.inputs.size()); i-- > 0;) work_.emplace_back(a.inputs[i], b.inputs[i]);
    for (size_t i = 0; i < std::min(a.regions.size(), b.regions.size()); ++i)
      if (a.regions[i] && b.regions[i]) regions(a.regions[i], b.regions[i], cat("a body of ", a.op->name));
  }

  // A node that only one model has: the comparison goes on after it.
  void skip(ValueId x, ValueId y, bool in_a) {
    const Graph& g = in_a ? a_ : b_;
    const ValueId v = in_a ? x : y;
    add(cat("only the ", in_a ? "first" : "second", " has ",
            g[v].def ? describe(g, g[v].def) : cat("the value '", g[v].name, "'")),
        in_a ? x : ValueId(), in_a ? ValueId() : y);
    if (!g[v].def || g[g[v].def].inputs.empty()) return;
    const ValueId next = g[g[v].def].inputs[0];
    in_a ? work_.emplace_back(next, y) : work_.emplace_back(x, next);
  }

  void attributes(const Node& a, const Node& b, ValueId x, ValueId y) {
    for (const AttrField& f : a.op->fields) {
      const AttrValue va = f.get(a.attrs.get()), vb = f.get(b.attrs.get());
      if (!(va == vb))
        add(cat(f.name, " of ", describe(a_, a_[x].def), ": ", attr_text(va), " and ", attr_text(vb)), x, y);
    }
    const NamedAttrs none;
    const NamedAttrs &ea = a.extra ? *a.extra : none, &eb = b.extra ? *b.extra : none;
    std::set<std::string> names;
    for (const auto* list : {&ea, &eb})
      for (const NamedAttr& at : *list) names.insert(at.name);
    for (const std::string& n : names) {
      const AttrValue *va = find_attr(ea, n), *vb = find_attr(eb, n);
      if (!va || !vb || !(*va == *vb))
        add(cat(n, " of ", describe(a_, a_[x].def), ": ", va ? attr_text(*va) : "absent", " and ",
                vb ? attr_text(*vb) : "absent"),
            x, y);
    }
  }

  void weights(ValueId x, ValueId y) {
    const Weight &a = *a_[x].weight, &b = *b_[y].weight;
    const auto shape = [](const Weight& w) {
      std::string out = cat(name(w.dtype), "[");
      for (size_t i = 0; i < w.shape.size(); ++i) out += cat(i ? "," : "", w.shape[i]);
      return out + "]";
    };
    if (shape(a) != shape(b)) return add(cat("type of a weight: ", shape(a), " and ", shape(b)), x, y);
    const Tensor ta = a.dense(), tb = b.dense();
    if (ta == tb) return;
    if (ta.dtype() == DType::string || is_complex(ta.dtype())) return add("a weight differs", x, y);
    int64_t differing = 0;
    double most = 0;
    for (int64_t i = 0; i < ta.count(); ++i) {
      const double da = ta.double_at(i), db = tb.double_at(i);
      if (da == db || (std::isnan(da) && std::isnan(db))) continue;
      ++differing;
      most = std::max(most, std::fabs(da - db));
    }
    add(cat("a weight ", shape(a), " differs in ", differing, " of ", ta.count(), " elements, by at most ", most), x,
        y);
  }

  void counts() {
    std::map<std::string, std::pair<size_t, size_t>> ops;
    const auto count = [&](const Graph& g, auto member) {
      for (uint32_t i = 0; i < g.node_capacity(); ++i)
        if (!g[NodeId(i)].dead) ++(ops[std::string(g[NodeId(i)].op->name)].*member);
    };
    count(a_, &std::pair<size_t, size_t>::first);
    count(b_, &std::pair<size_t, size_t>::second);
    for (const auto& [op, n] : ops)
      if (n.first != n.second) add(cat("number of ", op, " nodes: ", n.first, " and ", n.second));
  }

  const Graph &a_, &b_;
  const DiffOptions& options_;
  std::vector<std::pair<ValueId, ValueId>> work_;
  std::set<std::pair<uint32_t, uint32_t>> seen_, node_pairs_;
  std::map<uint32_t, uint32_t> pair_;
};

}  // namespace

std::vector<Difference> diff(const Model& a, const Model& b, const DiffOptions& options) {
  Matcher m(a, b, options);
  m.models(a, b);
  return std::move(m.found);
}

}  // namespace cameo::passes
