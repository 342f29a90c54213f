// softmax(scale * q kT + mask) v, in the forms that exporters write, becomes one Attention node.
#include <cmath>

#include "engine/prepare.h"
#include "ops/on.h"
#include "support/error.h"

namespace cameo::engine {

namespace {

using Perm = std::vector<int64_t>;

// The heads of one operand: [batch, rows, heads * depth], or [batch, heads, rows, depth] where that is all there is.
struct Operand {
  ValueId flat, split;
  int64_t heads = 0;
};

class AttentionMatch {
 public:
  AttentionMatch(Graph& g, NodeId product) : g_(g), product_(product) {}

  bool match() {
    const Node& last = g_[product_];
    if (!has_operands(last)) return false;
    const Node* softmax = maker(last.inputs[0], "Softmax");
    if (!softmax || rank(last.inputs[0]) != 4) return false;
    const int64_t axis = softmax->as<op::Softmax>()->axis;
    if (axis != -1 && axis != 3) return false;
    const Node* scores = through_scale_and_mask(softmax->inputs[0]);
    if (!scores) return false;
    const ValueId q = through_scale(scores->inputs[0]), k = through_scale(scores->inputs[1]);
    if (!dims(q) || !dims(k) || !dims(last.inputs[1]) || !(scale_ > 0)) return false;
    q_ = split_heads(q), k_ = transposed_heads(k), v_ = split_heads(last.inputs[1]);
    if (!k_.split && !k_.flat) return false;
    if (const auto d = dims(q);
        g_[q].fact.dtype() != DType::f32 || (*d)[0] != (*dims(k))[0] || (*d)[1] != (*dims(k))[1])
      return false;
    heads_ = (*dims(q))[1];
    return (q_.flat && k_.flat && v_.flat) || (q_.split && k_.split && v_.split);
  }

  bool rewrite() {
    op::Attention a;
    a.scale = static_cast<float>(scale_);
    const bool flat = q_.flat && k_.flat && v_.flat;
    // The result goes back to [batch, rows, heads * depth] right away in most models.
    const NodeId joined = flat ? joining() : NodeId();
    if (flat && (joined || !q_.split || !k_.split || !v_.split)) {
      a.q_num_heads = a.kv_num_heads = heads_;
      const NodeId before = joined ? joined : product_;
      On on(g_, g_[product_].home, before);
      ValueId y = on.Attention(q_.flat, k_.flat, v_.flat, 1, mask_, {}, {}, {}, a)[0];
      if (!joined) {
        const auto d = *dims(g_[product_].outputs[0]);
        y = on.Transpose(on.Reshape(y, on.ints({d[0], d[2], d[1], d[3]})), {Perm{0, 2, 1, 3}});
      }
      return replace(before, y);
    }
    On on(g_, g_[product_].home, product_);
    return replace(product_, on.Attention(q_.split, k_.split, v_.split, 1, mask_, {}, {}, {}, a)[0]);
  }

 private:
  bool replace(NodeId n, ValueId with) {
    if (g_[with].fact.type != g_[g_[n].outputs[0]].fact.type) return false;
    g_.replace_uses(g_[n].outputs[0], with);
    return true;
  }
  const Node* maker(ValueId v, std::string_view op) const {
    if (!v || !g_[v].def || g_[v].uses.size() != 1) return nullptr;
    const Node& n = g_[g_[v].def];
    return n.is(op) && has_operands(n) ? &n : nullptr;
  }
  int64_t rank(ValueId v) const { return g_[v].fact.has_rank() ? g_[v].fact.rank() : -1; }
  std::optional<std::vector<int64_t>> dims(ValueId v) const {
    if (!v || !g_[v].fact.has_rank()) return std::nullopt;
    std::vector<int64_t> out;
    for (const Dim d : g_[v].fact.shape()) {
      if (!d.is_literal()) return std::nullopt;
      out.push_back(d.literal());
    }
    return out;
  }
  std::optional<double> number(ValueId v) const {
    if (!v) return std::nullopt;
    if (const Tensor* t = g_[v].fact.tensor())
      return t->count() == 1 && is_float(t->dtype()) ? std::optional(t->double_at(0)) : std::nullopt;
    if (!g_.is_constant(v)) return std::nullopt;
    const auto t = g_.constant(v, 64);
    return t && t->count() == 1 && is_float(t->dtype()) ? std::optional(t->double_at(0)) : std::nullopt;
  }

  // x of x * number or x / number, which goes into the scale.
  ValueId through_scale(ValueId v) {
    if (const Node* n = maker(v, "Mul"))
      for (size_t i = 0; i < 2; ++i)
        if (const auto s = number(n->inputs[i]); s && rank(n->inputs[i]) <= 1) {
          scale_ *= *s;
          return n->inputs[1 - i];
        }
    if (const Node* n = maker(v, "Div"))
      if (const auto s = number(n->inputs[1]); s && *s != 0 && rank(n->inputs[1]) <= 1) {
        scale_ /= *s;
        return n->inputs[0];
      }
    return v;
  }

  // The product of queries and keys, through an added mask and factors.
  const Node* through_scale_and_mask(ValueId v) {
    if (const Node* add = maker(v, "Add")) {
      for (size_t i = 0; i < 2; ++i) {
        const ValueId mask = add->inputs[1 - i];
        const auto m = dims(mask), whole = dims(v);
        if (!m || !whole || m->size() < 2 || m->back() != whole->back() || g_[mask].fact.dtype() != DType::f32)
          continue;
        const double before = scale_;
        if (const Node* product = maker(through_scale(add->inputs[i]), "MatMul");
            product && dims(product->outputs[0]) == whole) {
          mask_ = mask;
          return product;
        }
        scale_ = before;
      }
      return nullptr;
    }
    return maker(through_scale(v), "MatMul");
  }

  const Node* transpose(ValueId v, const Perm& perm) const {
    if (!v || !g_[v].def) return nullptr;
    const Node& n = g_[g_[v].def];
    const auto* t = n.is("Transpose") ? n.as<op::Transpose>() : nullptr;
    return t && t->perm == perm && has_operands(n) ? &n : nullptr;
  }
  // [b, n, h, d] that is a reshaped [b, n, h * d]: gives that.
  ValueId unsplit(ValueId v) const {
    if (!v || !g_[v].def || !g_[g_[v].def].is("Reshape") || !has_operands(g_[g_[v].def])) return {};
    const ValueId from = g_[g_[v].def].inputs[0];
    const auto a = dims(from), b = dims(v);
    return a && b && a->size() == 3 && b->size() == 4 && (*a)[0] == (*b)[0] && (*a)[1] == (*b)[1] ? from : ValueId();
  }
  Operand split_heads(ValueId v) const {
    const Node* t = transpose(v, {0, 2, 1, 3});
    return {t ? unsplit(t->inputs[0]) : ValueId(), v};
  }
  Operand transposed_heads(ValueId v) const {
    if (const Node* t = transpose(v, {0, 1, 3, 2})) return split_heads(t->inputs[0]);
    if (const Node* t = transpose(v, {0, 2, 3, 1})) return {unsplit(t->inputs[0]), {}};
    return {};
  }
  // The Reshape to [b, n, h * d] behind a Transpose behind the product.
  NodeId joining() const {
    const auto only = [&](ValueId v) { return g_[v].uses.size() == 1 ? g_[v].uses[0].node : NodeId(); };
    const NodeId t = only(g_[product_].outputs[0]);
    if (!t || !g_[t].is("Transpose") || g_[t].as<op::Transpose>()->perm != Perm{0, 2, 1, 3}) return {};
    const NodeId r = only(g_[t].outputs[0]);
    if (!r || !g_[r].is("Reshape")) return {};
    const auto a = dims(g_[t].outputs[0]), b = dims(g_[r].outputs[0]);
    return a && b && b->size() == 3 && (*b)[0] == (*a)[0] && (*b)[1] == (*a)[1] ? r : NodeId();
  }

  Graph& g_;
  NodeId product_;
  double scale_ = 1;
  int64_t heads_ = 0;
  Operand q_, k_, v_;
  ValueId mask_;
};

}  // namespace

bool fuse_attention(Graph& g, NodeId product) {
  AttentionMatch m(g, product);
  try {
    return m.match() && m.rewrite();
  } catch (const Error&) {
    return false;  // the operator asks more of its operands than the nodes do
  }
}

}  // namespace cameo::engine
