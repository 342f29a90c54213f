#include "quant/schemes/selection.h"

#include <algorithm>

#include "ops/on.h"
#include "ops/op_def.h"
#include "quant/schemes/product.h"

namespace cameo::quant {

Role Selection::role(NodeId n) const {
  const OperatorRow* row = find_operator(target_, g_[n]);
  return row ? row->role : Role::computes;
}

// Q and DQ of something that is no constant.
bool Selection::is_trained(ValueId v) const {
  return is_dequantized(g_, v) && g_[g_[g_[v].def].inputs[0]].def && !g_.is_constant(g_[g_[v].def].inputs[0]);
}

bool Selection::candidate(NodeId n) const {
  const Node& node = g_[n];
  if (node.op->is_opaque() || !node.op->domain.empty() || !node.regions.empty() || node.outputs.empty()) return false;
  if (node.is("QuantizeLinear") || node.is("DequantizeLinear") || node.is("Constant")) return false;
  const OperatorRow* row = find_operator(target_, node);
  if (!row && target_.placement != Placement::everything) return false;
  if (row && row->role == Role::activates && target_.placement != Placement::everything) return false;
  if (node.inputs.empty() || !is_f32(g_, node.outputs[0])) return false;
  if (trained_) return row && row->role == Role::product && is_dequantized(g_, node.inputs[0]);
  if (!row) return true;
  if (!is_f32(g_, node.inputs[0]) && row->role != Role::computes) return false;
  if (row->role == Role::product)
    return product_of(g_, n) || (node.is("MatMul") && !g_.is_constant(node.inputs[0]) && is_f32(g_, node.inputs[1]) &&
                                 !g_.is_constant(node.inputs[1]));
  if (row->role == Role::moves) return !g_.is_constant(node.inputs[0]);
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return !v || is_f32(g_, v); }) &&
         std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return v && !g_.is_constant(v); });
}

NodeId Selection::activation(NodeId n) const {
  if (!chosen_.contains(n) || g_[n].outputs.size() != 1) return {};
  if (role(n) != Role::product && !g_[n].is("Add")) return {};
  const auto& uses = g_[g_[n].outputs[0]].uses;
  if (uses.size() != 1 || !uses[0].node || uses[0].index != 0) return {};
  const NodeId user = uses[0].node;
  const OperatorRow* row = find_operator(target_, g_[user]);
  return row && row->role == Role::activates && g_[user].home == g_.main() ? user : NodeId();
}

ValueId Selection::result(NodeId n) const {
  const NodeId a = activation(n);
  return g_[a ? a : n].outputs[0];
}

bool Selection::is_chosen_result(ValueId v) const {
  NodeId n = g_[v].def;
  if (!n) return false;
  if (chosen_.contains(n)) return true;
  const OperatorRow* row = find_operator(target_, g_[n]);
  if (!row || row->role != Role::activates || g_[n].inputs.empty() || !g_[g_[n].inputs[0]].def) return false;
  return activation(g_[g_[n].inputs[0]].def) == n;
}

bool Selection::quantized_anyway(ValueId v) const {
  if (is_trained(v) || is_chosen_result(v)) return true;
  return std::any_of(g_[v].uses.begin(), g_[v].uses.end(), [&](const Use& u) {
    return u.node && u.index == 0 && chosen_.contains(u.node) && role(u.node) == Role::product;
  });
}

bool Selection::read_by_chosen(ValueId v) const {
  return std::any_of(g_[v].uses.begin(), g_[v].uses.end(), [&](const Use& u) {
    if (!u.node || !chosen_.contains(u.node)) return false;
    const auto read = operands(u.node);
    return std::find(read.begin(), read.end(), u.index) != read.end();
  });
}

// The product's sum is added to something: targets fuse that, in f32 or i32.
bool Selection::joins_product(ValueId v) const {
  const NodeId n = g_[v].def;
  return n && chosen_.contains(n) && role(n) == Role::product && g_[v].uses.size() == 1;
}

std::vector<size_t> Selection::operands(NodeId n) const {
  const Node& node = g_[n];
  const OperatorRow* row = find_operator(target_, node);
  if (row && row->role == Role::product) {
    if (product_of(g_, n)) return {0};
    return {0, 1};
  }
  if (row && (row->role == Role::moves || row->role == Role::activates)) return {0};
  std::vector<size_t> out;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (!is_f32(g_, v) || (!row && g_.is_constant(v))) continue;
    if (target_.placement == Placement::inputs && joins_product(v)) continue;
    out.push_back(i);
  }
  return out;
}

// Whether a node that is no product is worth it: what it reads is quantized, and so is what reads it.
bool Selection::stays(NodeId n) const {
  if (target_.placement == Placement::everything) return true;
  const auto read = operands(n);
  if (target_.placement == Placement::inputs)  // a residual sum: one operand comes from a product
    return read.size() == 1 && g_[n].inputs.size() == 2 && !g_.is_constant(g_[n].inputs[read[0]]);
  for (const size_t i : read)
    if (const ValueId v = g_[n].inputs[i]; !g_.is_constant(v) && !quantized_anyway(v)) return false;
  return std::any_of(g_[n].outputs.begin(), g_[n].outputs.end(), [&](ValueId v) { return read_by_chosen(v); }) ||
         read_by_chosen(result(n));
}

// A convolution with little to multiply, of a value that nobody else reads in integers, into one that nobody does.
bool Selection::is_thin(NodeId n) const {
  const auto* conv = g_[n].as<op::Conv>();
  const auto p = conv ? product_of(g_, n) : std::nullopt;
  if (!p) return false;
  double macs = 1, numbers = 1;  // of one result
  for (size_t i = 1; i < p->shape.size(); ++i) macs *= static_cast<double>(p->shape[i]);
  numbers = static_cast<double>(p->all_inputs()) / static_cast<double>(p->outputs());
  if (conv->strides)
    for (const int64_t stride : *conv->strides) numbers *= static_cast<double>(stride);
  if (macs >= target_.thin * (1 + numbers)) return false;
  const auto& uses = g_[p->data].uses;
  return !is_trained(p->data) && !is_chosen_result(p->data) && !read_by_chosen(result(n)) &&
         std::none_of(uses.begin(), uses.end(),
                      [&](const Use& u) { return u.node && u.node != n && chosen_.contains(u.node); });
}

// Where that leaves anything to quantize.
void Selection::leave_thin_float() {
  std::vector<NodeId> thin;
  size_t products = 0;
  for (const NodeId n : chosen_) {
    if (role(n) == Role::product) ++products;
    if (is_thin(n)) thin.push_back(n);
  }
  if (thin.size() == products) return;
  for (const NodeId n : thin) chosen_.erase(n);
}

ValueId Selection::group(ValueId v) const {
  for (auto it = parents_.find(v); it != parents_.end(); it = parents_.find(v)) v = it->second;
  return v;
}

void Selection::unite(ValueId a, ValueId b) {
  a = group(a), b = group(b);
  if (a != b) parents_[std::max(a, b)] = std::min(a, b);
}

void Selection::collect_values() {
  const auto add = [&](ValueId v) {
    if (g_.is_constant(v) || is_dequantized(g_, v) || !is_f32(g_, v)) return;
    const auto& uses = g_[v].uses;
    if (std::any_of(uses.begin(), uses.end(), [&](const Use& u) { return u.node && g_[u.node].is("QuantizeLinear"); }))
      return;
    values_.insert(v);
  };
  for (const NodeId n : chosen_) {
    const Node& node = g_[n];
    for (const size_t i : operands(n)) add(node.inputs[i]);
    if (target_.placement == Placement::inputs) continue;
    // A product's sums in f32 are exact: they are rounded only where that helps the next one. Conv has no such form.
    const bool free = node.is("Gemm") || node.is("MatMul");
    for (const ValueId v : node.outputs) {
      const ValueId out = node.outputs.size() == 1 ? result(n) : v;
      if (!g_[out].uses.empty() && (!free || read_by_chosen(out) || target_.placement == Placement::everything))
        add(out);
    }
    if (role(n) == Role::moves)
      for (const ValueId v : node.outputs)
        if (!g_[v].uses.empty()) unite(node.inputs[0], v);
  }
  if (target_.placement != Placement::everything) return;
  for (const ValueId v : g_[g_.main()].outputs)
    if (v && g_[v].def) add(v);
}

bool Selection::for_all_readers(ValueId v) const {
  return target_.placement != Placement::inputs && is_chosen_result(v);
}

Selection::Selection(const Graph& g, const Target& target, const std::set<NodeId>& keep) : g_(g), target_(target) {
  std::vector<NodeId> others;
  for (const NodeId n : g.nodes(g.main()))
    trained_ = trained_ || (g[n].is("DequantizeLinear") && is_trained(g[n].outputs[0]));
  for (const NodeId n : g.nodes(g.main())) {
    if (keep.contains(n) || !candidate(n)) continue;
    if (const NodeId before = g[g[n].inputs[0]].def; before && activation(before) == n) continue;
    chosen_.insert(n);
    if (role(n) != Role::product) others.push_back(n);
  }
  // From what could be quantized, nodes that gain nothing are taken out until all that is left does.
  for (bool changed = true; changed;) {
    const size_t before = others.size();
    std::erase_if(others, [&](NodeId n) {
      if (stays(n)) return false;
      chosen_.erase(n);
      return true;
    });
    changed = others.size() != before;
  }
  if (target_.thin > 0) leave_thin_float();
  collect_values();
}

}  // namespace cameo::quant
