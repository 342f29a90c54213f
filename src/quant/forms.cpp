#include "quant/forms.h"

#include <algorithm>
#include <cmath>

#include "ops/infer.h"
#include "ops/on.h"
#include "passes/dce.h"
#include "quant/insert/insert.h"
#include "quant/schemes/product.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

// Integers with what makes numbers of them.
struct Quantized {
  ValueId integers, scale, zero;
  int64_t axis = 1;
  bool per_tensor = true;
};

bool is_byte(const Graph& g, ValueId v) {
  return v && g[v].fact.type.is_tensor() && (g[v].fact.dtype() == DType::u8 || g[v].fact.dtype() == DType::i8);
}

// Scales and zero points of these forms are constants; blocks have no integer operators.
std::optional<Quantized> quantized(const Graph& g, const Node& n, ValueId integers) {
  const auto* d = n.as<op::DequantizeLinear>();
  if (d && d->block_size != 0) return std::nullopt;
  if (n.inputs.size() < 3 || !n.inputs[2] || !is_f32(g, n.inputs[1])) return std::nullopt;
  const auto scale = g.is_constant(n.inputs[1]) ? g.constant(n.inputs[1], 1 << 20) : std::nullopt;
  const auto zero = g.is_constant(n.inputs[2]) ? g.constant(n.inputs[2], 1 << 20) : std::nullopt;
  if (!scale || !zero || zero->count() != scale->count()) return std::nullopt;
  return Quantized{integers, n.inputs[1], n.inputs[2], d ? d->axis : 1, scale->count() == 1 && scale->rank() == 0};
}

std::optional<Quantized> operand(const Graph& g, ValueId v) {
  if (!is_dequantized(g, v)) return std::nullopt;
  const Node& d = g[g[v].def];
  return quantized(g, d, d.inputs[0]);
}

bool same(const Graph& g, ValueId a, ValueId b) {
  if (a == b) return true;
  const auto x = g.constant(a, 64), y = g.constant(b, 64);
  return x && y && x->dtype() == y->dtype() && x->count() == 1 && y->count() == 1 && x->double_at(0) == y->double_at(0);
}

// The QuantizeLinear that alone reads the node's result; Relu between them goes where its zero is the least level.
NodeId quantizer_of(const Graph& g, NodeId n) {
  for (int steps = 0; steps < 2; ++steps) {
    if (g[n].outputs.size() != 1) return {};
    const auto& uses = g[g[n].outputs[0]].uses;
    if (uses.size() != 1 || !uses[0].node || uses[0].index != 0) return {};
    const NodeId reader = uses[0].node;
    if (g[reader].is("QuantizeLinear")) {
      const auto to = quantized(g, g[reader], g[reader].outputs[0]);
      if (!to || !to->per_tensor || !is_byte(g, to->integers)) return {};
      const auto zero = g.constant(to->zero, 64);
      const bool from_zero = zero && zero->int_at(0) == (zero->dtype() == DType::u8 ? 0 : -128);
      return steps == 0 || from_zero ? reader : NodeId();
    }
    if (!g[reader].is("Relu")) return {};
    n = reader;
  }
  return {};
}

constexpr std::string_view movers[] = {"MaxPool",   "Reshape", "Flatten",      "Transpose",   "Squeeze",
                                       "Unsqueeze", "Slice",   "DepthToSpace", "SpaceToDepth"};

class Integers {
 public:
  explicit Integers(Graph& g) : g_(g) {}

  size_t run() {
    std::vector<NodeId> nodes;
    for (const NodeId n : g_.nodes(g_.main())) nodes.push_back(n);
    size_t changed = 0;
    for (const NodeId n : nodes) {
      if (g_[n].outputs.size() != 1 || g_[n].inputs.empty()) continue;
      const NodeId q = quantizer_of(g_, n);
      if (q) changed += conv(n, q) || matmul(n, q) || move(n, q);
    }
    return changed;
  }

 private:
  bool conv(NodeId n, NodeId q) {
    const auto* a = g_[n].as<op::Conv>();
    if (!a) return false;
    const auto x = operand(g_, g_[n].inputs[0]), w = operand(g_, g_[n].inputs[1]);
    if (!x || !w || !x->per_tensor || !is_byte(g_, x->integers) || !is_byte(g_, w->integers)) return false;
    if (!w->per_tensor && w->axis != 0) return false;
    ValueId bias = g_.input(n, 2);
    if (bias) {
      const auto b = operand(g_, bias);
      if (!b || g_[b->integers].fact.dtype() != DType::i32 || !fits(*x, *w, *b)) return false;
      bias = b->integers;
    }
    op::QLinearConv to{a->auto_pad, a->dilations, a->group, a->kernel_shape, a->pads, a->strides};
    std::vector<ValueId> in{x->integers, x->scale, x->zero,         w->integers,
                            w->scale,    w->zero,  g_[q].inputs[1], g_[q].inputs[2]};
    if (bias) in.push_back(bias);
    replace(n, q, std::move(to), std::move(in));
    return true;
  }

  // The bias counts steps of the sums, and its zero is 0.
  bool fits(const Quantized& x, const Quantized& w, const Quantized& b) const {
    const auto xs = g_.constant(x.scale), ws = g_.constant(w.scale), bs = g_.constant(b.scale),
               zero = g_.constant(b.zero);
    if (ws->count() != bs->count()) return false;
    for (int64_t i = 0; i < bs->count(); ++i) {
      const double wanted = xs->double_at(0) * ws->double_at(i);
      if (!(std::fabs(bs->double_at(i) - wanted) <= 1e-5 * wanted)) return false;
    }
    const auto zeros = zero->to_doubles();
    return std::all_of(zeros.begin(), zeros.end(), [](double z) { return z == 0; });
  }

  bool matmul(NodeId n, NodeId q) {
    if (!g_[n].is("MatMul")) return false;
    const auto a = operand(g_, g_[n].inputs[0]), b = operand(g_, g_[n].inputs[1]);
    if (!a || !b || !a->per_tensor || !is_byte(g_, a->integers) || !is_byte(g_, b->integers)) return false;
    const auto& fact = g_[b->integers].fact;
    if (!b->per_tensor && (!fact.has_rank() || fact.rank() != 2 || (b->axis != 1 && b->axis != -1))) return false;
    replace(n, q, op::QLinearMatMul{},
            {a->integers, a->scale, a->zero, b->integers, b->scale, b->zero, g_[q].inputs[1], g_[q].inputs[2]});
    return true;
  }

  bool move(NodeId n, NodeId q) {
    if (std::none_of(std::begin(movers), std::end(movers), [&](std::string_view op) { return g_[n].is(op); }))
      return false;
    const auto x = operand(g_, g_[n].inputs[0]);
    if (!x || !x->per_tensor || !is_byte(g_, x->integers)) return false;
    if (g_[g_[n].outputs[0]].uses[0].node != q) return false;  // no Relu in between
    if (!same(g_, x->scale, g_[q].inputs[1]) || !same(g_, x->zero, g_[q].inputs[2])) return false;
    g_.set_input(n, 0, x->integers);
    const ValueId from = g_[q].outputs[0], to = g_[n].outputs[0];
    const std::string name = g_[from].name;
    g_.replace_uses(from, to);
    g_.erase(q);
    g_.fact(to).type = Type::tensor(g_[x->integers].fact.dtype(), g_[to].fact.shape());
    g_.rename(to, name);
    return true;
  }

  template <class Attrs>
  void replace(NodeId n, NodeId q, Attrs attrs, std::vector<ValueId> in) {
    On on(g_, g_.main(), q);
    const ValueId made = on.make(std::move(attrs), std::move(in), 1)[0];
    const ValueId old = g_[q].outputs[0];
    const std::string name = g_[old].name;
    if (!g_[n].name.empty()) g_.rename(g_[made].def, g_[n].name);
    g_.replace_uses(old, made);
    g_.erase(q);
    g_.rename(made, name);
  }

  Graph& g_;
};

class Floats {
 public:
  explicit Floats(Graph& g) : g_(g) {}

  size_t run() {
    std::vector<NodeId> nodes;
    for (const NodeId n : g_.nodes(g_.main()))
      if (g_[n].is("QLinearConv") || g_[n].is("QLinearMatMul")) nodes.push_back(n);
    size_t changed = 0;
    for (const NodeId n : nodes) changed += expand(n);
    return changed;
  }

 private:
  bool expand(NodeId n) {
    const Node& node = g_[n];
    const auto* a = node.as<op::QLinearConv>();
    const ValueId bias = a ? g_.input(n, 8) : ValueId();
    std::optional<Tensor> bias_scale;
    if (bias && !(bias_scale = product(node.inputs[1], node.inputs[4]))) return false;
    const int64_t last = g_[node.inputs[3]].fact.has_rank() ? g_[node.inputs[3]].fact.rank() - 1 : 1;
    const std::vector<ValueId> in = node.inputs;
    On on(g_, g_.main(), n);
    const ValueId x = dequantize(on, in[0], in[1], in[2], 1), w = dequantize(on, in[3], in[4], in[5], a ? 0 : last);
    std::vector<ValueId> operands{x, w};
    if (bias) operands.push_back(dequantize(on, bias, g_.add_constant(*bias_scale), {}, 0));
    ValueId y;
    if (a)
      y = on.make(op::Conv{a->auto_pad, a->dilations, a->group, a->kernel_shape, a->pads, a->strides}, operands, 1)[0];
    else y = on.make(op::MatMul{}, operands, 1)[0];
    const std::string name = g_[n].name;
    if (!name.empty()) g_.rename(g_[y].def, name);
    const ValueId q = on.make(op::QuantizeLinear(), {y, in[6], in[7]}, 1)[0], old = g_[n].outputs[0];
    const std::string label = g_[old].name;
    g_.replace_uses(old, q);
    g_.erase(n);
    g_.rename(q, label);
    return true;
  }

  // Of two constant scales; the first is one number.
  std::optional<Tensor> product(ValueId a, ValueId b) const {
    const auto x = g_.is_constant(a) ? g_.constant(a) : std::nullopt,
               y = g_.is_constant(b) ? g_.constant(b) : std::nullopt;
    if (!x || !y || x->count() != 1) return std::nullopt;
    std::vector<float> out;
    for (const double s : y->to_doubles()) out.push_back(static_cast<float>(x->double_at(0)) * static_cast<float>(s));
    return Tensor::of<float>(DType::f32, y->shape(), out);
  }

  Graph& g_;
};

size_t finished(Graph& g, size_t changed) {
  if (!changed) return 0;
  passes::remove_dead_code(g);
  infer(g);
  return changed;
}

}  // namespace

size_t to_qoperator(Graph& g) { return finished(g, Integers(g).run()); }
size_t to_qdq(Graph& g) { return finished(g, Floats(g).run()); }

void check_form(const std::string& name) {
  if (name != "qdq" && name != "qoperator")
    throw error("use.value", cat("there is no form '", name, "' of quantized models")).help("qdq, qoperator");
}

size_t to_form(Graph& g, const std::string& name) {
  check_form(name);
  return name == "qdq" ? to_qdq(g) : to_qoperator(g);
}

}  // namespace cameo::quant
