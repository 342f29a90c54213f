// Operators that exporters write as several nodes, fused again. Only what the kernels compute better in one
// piece; the results are those of the nodes up to rounding.
#include <cmath>

#include "engine/prepare.h"
#include "ops/on.h"

namespace cameo::engine {

namespace {

class Fuser {
 public:
  explicit Fuser(Graph& g) : g_(g) {}

  void node(NodeId n) {
    const Node& node = g_[n];
    if (!has_operands(node)) return;
    if (node.is("ReduceMean")) global_pool(n);
    else if (node.is("Mul") && !gelu(n)) swish(n);
  }

 private:
  // The node that makes a value with only this use.
  const Node* maker(ValueId v, std::string_view op, size_t uses = 1) const {
    if (!v || !g_[v].def || g_[v].uses.size() != uses) return nullptr;
    const Node& n = g_[g_[v].def];
    return n.is(op) && has_operands(n) ? &n : nullptr;
  }
  bool is_number(ValueId v, double wanted) const {
    const Tensor* t = v ? g_[v].fact.tensor() : nullptr;
    std::optional<Tensor> c;
    if (!t && v && g_.is_constant(v)) c = g_.constant(v, 64), t = c ? &*c : nullptr;
    return t && t->dtype() == DType::f32 && t->count() == 1 &&
           std::fabs(t->double_at(0) - wanted) <= 2e-7 * std::fabs(wanted);
  }
  bool is_f32(ValueId v) const { return g_[v].fact.type.is_tensor() && g_[v].fact.dtype() == DType::f32; }
  // The other operand of a binary node whose one operand is that number.
  ValueId beside(const Node& n, double number) const {
    if (n.inputs.size() != 2) return {};
    return is_number(n.inputs[1], number) ? n.inputs[0] : is_number(n.inputs[0], number) ? n.inputs[1] : ValueId();
  }
  // A number that is a tensor of more axes gives the result more axes too: readers were checked with those.
  bool replace(NodeId n, ValueId with) {
    if (g_[with].fact.type != g_[g_[n].outputs[0]].fact.type) return false;
    g_.replace_uses(g_[n].outputs[0], with);
    return true;
  }

  void global_pool(NodeId n) {
    const Node& node = g_[n];
    const ValueId x = node.inputs[0];
    if (!is_f32(x) || !g_[x].fact.has_rank() || g_[x].fact.rank() < 3) return;
    const auto* a = node.as<op::ReduceMean>();
    const auto axes = node.inputs.size() > 1 && node.inputs[1] ? g_[node.inputs[1]].fact.ints() : std::nullopt;
    if (!a->keepdims || !axes) return;
    const int64_t rank = g_[x].fact.rank();
    std::vector<bool> reduced(static_cast<size_t>(rank), false);
    for (const Dim d : *axes) {
      if (!d.is_literal() || d.literal() < -rank || d.literal() >= rank) return;
      reduced[static_cast<size_t>(d.literal() < 0 ? d.literal() + rank : d.literal())] = true;
    }
    for (size_t i = 0; i < reduced.size(); ++i)
      if (reduced[i] != (i >= 2)) return;
    replace(n, On(g_, node.home, n).GlobalAveragePool(x));
  }

  // x * sigmoid(x)
  void swish(NodeId n) {
    const Node& node = g_[n];
    for (size_t i = 0; i < 2; ++i) {
      const Node* s = maker(node.inputs[i], "Sigmoid");
      if (!s || s->inputs[0] != node.inputs[1 - i] || !is_f32(s->inputs[0])) continue;
      replace(n, On(g_, node.home, n).Swish(s->inputs[0]));
      return;
    }
  }

  // x / sqrt(2), or times its inverse; gives x.
  ValueId over_root_two(ValueId v) const {
    if (const Node* d = maker(v, "Div"); d && is_number(d->inputs[1], std::sqrt(2.0))) return d->inputs[0];
    if (const Node* m = maker(v, "Mul")) return beside(*m, std::sqrt(0.5));
    return {};
  }
  // 1 + erf(x / sqrt(2)); gives x.
  ValueId gate(ValueId v) const {
    const Node* add = maker(v, "Add");
    const ValueId e = add ? beside(*add, 1) : ValueId();
    const Node* erf = maker(e, "Erf");
    return erf ? over_root_two(erf->inputs[0]) : ValueId();
  }
  // x * gate(x), in either order.
  ValueId gated(const Node& mul) const {
    for (size_t i = 0; i < 2; ++i)
      if (const ValueId x = gate(mul.inputs[i]); x && x == mul.inputs[1 - i]) return x;
    return {};
  }
  // Half of x * (1 + erf(x / sqrt(2))), the half anywhere.
  bool gelu(NodeId n) {
    const Node& node = g_[n];
    ValueId x;
    if (const ValueId whole = beside(node, 0.5)) {
      if (const Node* m = maker(whole, "Mul")) x = gated(*m);
    } else {
      for (size_t i = 0; i < 2 && !x; ++i) {
        const Node* half = maker(node.inputs[i], "Mul");
        const ValueId inside = half ? beside(*half, 0.5) : ValueId();
        if (!inside) continue;
        if (const ValueId from = gate(node.inputs[1 - i]); from && from == inside) x = from;           // (x / 2) * gate
        else if (const ValueId other = gate(inside); other && other == node.inputs[1 - i]) x = other;  // x * (gate / 2)
      }
    }
    return x && is_f32(x) && replace(n, On(g_, node.home, n).Gelu(x));
  }

  Graph& g_;
};

}  // namespace

void fuse_operators(Graph& g, bool attention) {
  Fuser fuser(g);
  for (const NodeId n : g.nodes(g.main()))
    if (!attention || !g[n].is("MatMul") || !fuse_attention(g, n)) fuser.node(n);
  // Unused nodes are removed, users before producers.
  std::vector<NodeId> nodes;
  for (const NodeId n : g.nodes(g.main())) nodes.push_back(n);
  for (size_t i = nodes.size(); i-- > 0;) {
    bool used = g[nodes[i]].outputs.empty();
    for (const ValueId v : g[nodes[i]].outputs) used = used || g.used(v);
    if (!used) g.erase(nodes[i]);
  }
}

}  // namespace cameo::engine
