#include "passes/linger/to_qdq.h"

#include <algorithm>

#include "ops/inline.h"
#include "ops/soundness.h"
#include "passes/dce.h"
#include "passes/linger/rewrite.h"
#include "passes/linger/upgrade.h"

namespace cameo::passes {

namespace {

using linger::Quantised;
using linger::Rewrite;
using linger::Row;
using linger::States;

const Row* row_of(const Node& n) {
  for (const auto rows : {linger::plain_rows(), linger::window_rows(), linger::recurrent_rows()})
    for (const Row& r : rows)
      if (n.op->name == r.op) return &r;
  return nullptr;
}

constexpr int64_t opset_of_16_bits = 21;

bool has_16_bits(const Graph& g) {
  for (uint32_t i = 0; i < g.node_capacity(); ++i) {
    const Node& n = g[NodeId(i)];
    const auto grid = ops::linger::is_linger(n) ? ops::linger::result_grid(n, 0) : std::nullopt;
    if (grid && grid->bits > 8 && grid->bits <= 16) return true;
  }
  return false;
}

class Converter {
 public:
  Converter(Graph& g, const linger::QdqForm& form) : g_(g), form_(form) {}

  void region(RegionId r) {
    for (const NodeId n : g_.nodes(r)) {
      for (const RegionId body : std::vector<RegionId>(g_[n].regions))
        if (body) region(body);
      states_.follow(g_, n);
      if (g_[n].op->domain == ops::linger::domain) replace(n);
      else if (ops::linger::passing(g_[n]) && states_.of(g_.input(n, 0)) && !stays_whole(n)) wrap(n);
    }
  }

  LingerToQdq done;

 private:
  void replace(NodeId n) {
    const Row* row = ops::linger::is_linger(g_[n]) ? row_of(g_[n]) : nullptr;
    Rewrite r(g_, n, states_, form_);
    if (!row) r.refuse("the operator is unknown");
    // Rows rely on what the shape rule checks; nodes in bodies are judged here.
    if (!ops::rule_runs(g_, n)) r.refuse("the ranks of its operands are not known");
    if (const auto fault = ops::fault_of(g_, n)) throw Error(*fault);
    if (row->op == "QLSTM" || row->op == "QGRU") note_state(n);
    const linger::Results results = row->write(r);
    const std::vector<ValueId> old = g_[n].outputs;
    if (old.size() > results.size()) r.refuse(cat("it has ", old.size(), " outputs"));
    for (size_t i = 0; i < old.size(); ++i) take_over(old[i], results[i]);
    g_.erase(n);
    ++done.nodes;
  }

  // The new value has the old one's name, uses and grid.
  void take_over(ValueId old, ValueId by) {
    if (const Quantised* q = states_.of(old)) states_.set(by, Quantised(*q));
    std::string name = g_[old].name;
    g_.label(old).name.clear();
    if (g_[by].kind != Value::Kind::node_output || !g_[by].name.empty())  // a name is a value's own
      by = On(g_, g_[g_[old].def].home, g_[old].def).Identity(by);
    g_.replace_uses(old, by);
    g_.label(by).name = std::move(name);
  }

  // Exact numbers are not fused anyway, and ONNX Runtime 1.31 loses the sign of what it moves DequantizeLinear over.
  bool stays_whole(NodeId n) const {
    constexpr std::string_view moving[] = {"Flatten", "Gather",  "Identity",  "Reshape",
                                           "Slice",   "Squeeze", "Transpose", "Unsqueeze"};
    const bool small = states_.of(g_.input(n, 0))->bits <= 8;
    return form_.exact && ((small && g_[n].is("MaxPool")) ||
                           std::find(std::begin(moving), std::end(moving), g_[n].op->name) != std::end(moving));
  }

  // An operator that moves quantised numbers, between DequantizeLinear and QuantizeLinear: engines look for that form.
  void wrap(NodeId n) {
    Rewrite r(g_, n, states_, form_);
    const ops::linger::Passing through = *ops::linger::passing(g_[n]);
    const Quantised grid = *states_.of(g_.input(n, 0));
    std::vector<ValueId> inputs = g_[n].inputs;
    inputs[0] = r.dequantised(inputs[0], grid.scale);
    for (size_t i = through.first_value; i < std::min(inputs.size(), through.first_value + 2); ++i)
      if (inputs[i] && g_[inputs[i]].fact.dtype() == ops::linger::type_of(grid.bits))
        inputs[i] = r.dequantised(inputs[i], grid.scale);
    const auto moved = r.on.emit(def(*g_[n].op), g_[n].attrs, std::move(inputs), g_[n].outputs.size());
    if (!g_[n].name.empty()) g_.set_name(g_[moved[0]].def, g_[n].name);
    const std::vector<ValueId> old = g_[n].outputs;
    for (size_t i = 0; i < old.size(); ++i)
      take_over(old[i], i < through.results ? r.on_grid(moved[i], grid) : moved[i]);
    g_.erase(n);
  }

  void note_state(NodeId n) {
    Diag d;
    d.severity = Severity::note;
    d.code = "convert.linger-state";
    d.what = cat(g_[n].op->name, " '", g_[n].name, "': ONNX's operator does not round its state between steps");
    d.because = "results differ by more than one step after long sequences";
    done.notes.push_back(std::move(d));
  }

  Graph& g_;
  const linger::QdqForm form_;
  States states_;
};

}  // namespace

LingerToQdq linger_to_qdq(Model& m, bool exact, int64_t opset) {
  ops::inline_functions(m);
  upgrade_linger(m);
  Converter c(m.graph, {exact, opset < opset_of_16_bits && !has_16_bits(m.graph)});
  c.region(m.graph.main());
  remove_dead_code(m.graph);  // weights in the forms that new ones took the place of
  m.opsets.erase(std::string(ops::linger::domain));
  return std::move(c.done);
}

}  // namespace cameo::passes
