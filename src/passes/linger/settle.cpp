#include "passes/linger/settle.h"

#include <algorithm>
#include <map>

#include "ops/eval.h"
#include "ops/gate.h"
#include "ops/infer.h"
#include "ops/on.h"
#include "passes/dce.h"
#include "passes/linger/states.h"

namespace cameo::passes {

namespace {

using linger::Quantised;
using linger::States;

// A node that staging kept under its name, as the operator of the table. Attributes that the operator does not have
// stay.
void recognise(Graph& g, NodeId id) {
  const Node& n = g[id];
  const OpDef* op = n.op->is_opaque() ? find_op(n.op->domain, n.op->name) : nullptr;
  if (!op || !n.regions.empty()) return;
  auto attrs = op->make();
  std::vector<bool> given(op->fields.size(), false);
  NamedAttrs rest;
  for (const NamedAttr& a : n.extra ? *n.extra : NamedAttrs()) {
    const auto at =
        std::find_if(op->fields.begin(), op->fields.end(), [&](const AttrField& f) { return f.name == a.name; });
    if (at == op->fields.end()) {
      rest.push_back(a);
      continue;
    }
    AttrValue v = a.value;
    if (const auto* i = std::get_if<int64_t>(&v); i && at->kind == AttrKind::ints) v = std::vector<int64_t>{*i};
    if (const auto* i = std::get_if<int64_t>(&v); i && at->kind == AttrKind::floating) v = static_cast<float>(*i);
    if (kind_of(v) != at->kind)
      throw error("export.linger", cat("attribute '", a.name, "' of ", n.op->name, " is ", name(kind_of(v)),
                                       " and must be ", name(at->kind)));
    at->set(attrs.get(), std::move(v));
    given[static_cast<size_t>(at - op->fields.begin())] = true;
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (op->fields[i].required && !given[i])
      throw error("export.linger", cat(n.op->name, " needs the attribute '", op->fields[i].name, "'"));
  g.set_op(id, *op, std::move(attrs));
  g.set_extra(id, std::move(rest));
}

class Settler {
 public:
  explicit Settler(Model& m) : g_(m.graph) {}

  void region(RegionId r) {
    for (NodeId n = g_[r].first; n; n = g_[n].next) {
      if (g_[n].op->domain == ops::linger::domain) recognise(g_, n);
      if (ops::linger::is_linger(g_[n])) quantise_operands(n);
      else pass_or_dequantise(n);
      for (const RegionId body : std::vector<RegionId>(g_[n].regions))
        if (body) region(body);
      states_.follow(g_, n);
    }
    std::vector<ValueId> outputs = g_[r].outputs;
    for (ValueId& v : outputs)
      if (const Quantised* q = states_.of(v)) v = dequantised(v, *q, r, {}, true);
    g_.set_region_outputs(r, std::move(outputs));
  }

  LingerSettled done;

 private:
  void quantise_operands(NodeId n) {
    ++done.nodes;
    for (size_t i = 0; i < g_[n].inputs.size(); ++i) {
      const ValueId v = g_[n].inputs[i];
      const auto grid = v ? ops::linger::operand_grid(g_[n], i) : std::nullopt;
      if (grid && !states_.of(v)) g_.set_input(n, i, on_grid(v, *grid, n));
      else if (v && !grid && states_.of(v) && wants_float(n))
        g_.set_input(n, i, dequantised(v, *states_.of(v), g_[n].home, n));
    }
  }

  bool wants_float(NodeId n) const { return g_[n].op->name != "Dequant" && !ops::linger::passing(g_[n]); }

  // Operators that only move numbers take them as they are, with bounds and fillings on the same grid.
  void pass_or_dequantise(NodeId n) {
    const ops::linger::Passing* through = ops::linger::passing(g_[n]);
    const Quantised* data = states_.of(g_.input(n, 0));
    const bool shape_only = g_[n].is("Shape") || g_[n].is("Size");
    for (size_t i = 0; i < g_[n].inputs.size() && !shape_only; ++i) {
      const ValueId v = g_[n].inputs[i];
      if (!v || (through && i == 0)) continue;
      if (through && data && i >= through->first_value && i < through->first_value + 2 && is_float(g_[v].fact.dtype()))
        g_.set_input(n, i, on_grid(v, *data, n));
      else if (const Quantised* q = states_.of(v)) g_.set_input(n, i, dequantised(v, *q, g_[n].home, n));
    }
  }

  // A float as whole numbers: a constant at once, anything else by a Quant before the node.
  ValueId on_grid(ValueId v, const Quantised& grid, NodeId before) {
    if (!is_float(g_[v].fact.dtype()) && g_[v].fact.dtype() != DType::undefined) return v;
    if (const auto& constant = known(v)) return whole_constant(v, *constant, grid);
    op::linger::Quant attrs{.data_bits = grid.bits, .scale_x = static_cast<float>(grid.scale)};
    attrs.platform = ops::linger::text_of(g_[before], "platform");
    attrs.zero_point = 0;
    const NodeId q = g_.add_node(g_[before].home, op_of<op::linger::Quant>(),
                                 std::make_shared<const op::linger::Quant>(std::move(attrs)), {v}, 1, before);
    ++done.quants;
    states_.follow(g_, q);
    return g_[q].outputs[0];
  }

  // What is computed from weights alone, such as the factors of a folded batch norm, is a weight too.
  const std::optional<Tensor>& known(ValueId v, int depth = 0) {
    if (const auto it = known_.find(v); it != known_.end()) return it->second;
    known_[v] = std::nullopt;
    auto t = g_.constant(v);
    if (!t && g_[v].def && depth < deepest_chain) t = computed(v, depth);
    return known_[v] = std::move(t);
  }

  std::optional<Tensor> computed(ValueId v, int depth) {
    const NodeId id = g_[v].def;
    const Node& n = g_[id];
    if (n.op->is_opaque() || !n.regions.empty() || !def(*n.op).rules.eval || !def(*n.op).rules.deterministic) return {};
    std::vector<Datum> data;
    for (const ValueId in : n.inputs) {
      if (in && !known(in, depth + 1)) return {};
      data.push_back(in ? Datum(*known(in)) : Datum());
    }
    std::vector<const Datum*> pointers;
    for (size_t i = 0; i < data.size(); ++i) pointers.push_back(n.inputs[i] ? &data[i] : nullptr);
    const auto results = ops::evaluate_node(n, pointers);
    const auto at = static_cast<size_t>(std::find(n.outputs.begin(), n.outputs.end(), v) - n.outputs.begin());
    return results[at].kind == Datum::Kind::tensor ? std::optional(results[at].tensor) : std::nullopt;
  }

  ValueId whole_constant(ValueId v, const Tensor& t, const Quantised& grid) {
    for (const Made& m : made_)
      if (m.from == v && m.grid.scale == grid.scale && m.grid.bits == grid.bits && m.grid.how == grid.how) return m.to;
    const Tensor q = store(ops::linger::type_of(grid.bits), t.shape(), ops::linger::whole(t, grid, grid.how));
    const bool only_use = g_[v].uses.size() == 1 && g_[v].kind == Value::Kind::initializer;
    const ValueId to = g_.add_constant(q, only_use ? g_[v].name : "");
    if (only_use) g_.label(v).name.clear();
    made_.push_back({v, to, grid});
    ++done.weights;
    return to;
  }

  // One for all nodes that compute with floats; the model's outputs keep their names.
  ValueId dequantised(ValueId v, const Quantised& grid, RegionId home, NodeId before, bool is_output = false) {
    const NodeId d = g_.add_node(
        home, op_of<op::linger::Dequant>(),
        std::make_shared<const op::linger::Dequant>(op::linger::Dequant{.scale_o = static_cast<float>(grid.scale)}),
        {v}, 1, before);
    ++done.dequants;
    const ValueId out = g_[d].outputs[0];
    if (is_output) {
      g_.label(out).name = g_[v].name;
      g_.label(v).name.clear();
    }
    return out;
  }

  static constexpr int deepest_chain = 64;

  struct Made {
    ValueId from, to;
    Quantised grid;
  };

  Graph& g_;
  States states_;
  std::vector<Made> made_;
  std::map<ValueId, std::optional<Tensor>> known_;
};

}  // namespace

LingerSettled settle_linger(Model& m) {
  Settler s(m);
  s.region(m.graph.main());
  remove_dead_code(m.graph);  // floats that whole numbers took the place of
  ops::forget_declared(m.graph);
  ops::infer(m.graph, m.functions);
  return s.done;
}

}  // namespace cameo::passes
