// Quantized models spell an operator on bytes out as DequantizeLinear, the operator on floats, QuantizeLinear. Products
// that stand so become products of integers; operators that only choose or move elements work on the bytes. A result
// may differ by one quantum from that of the floats, where both lie next to the middle between two.
#include <algorithm>
#include <cmath>

#include "engine/emit.h"
#include "engine/prepare.h"
#include "engine/simd/integer.h"
#include "kernels/carrier.h"
#include "ops/on.h"

namespace cameo::engine {

namespace {

// A value that is dequantized: the integers behind it, and how.
struct Quantized {
  ValueId bytes, scale, zero;
  int64_t axis = 1;
};

class Integers {
 public:
  Integers(Graph& g, bool onednn) : g_(g), bytes_are_fast_(onednn && onednn_adds_bytes_exactly()) {}

  void node(NodeId n) {
    const Node& node = g_[n];
    if (node.outputs.size() != 1 || !node.op->domain.empty() || !has_operands(node)) return;
    if (node.is("Conv")) convolution(n);
    else if (node.is("MatMul")) product(n, node.inputs[0], node.inputs[1], false, {});
    else if (const auto* a = node.as<op::Gemm>();
             a && a->alpha == 1 && !a->transA && (a->beta == 1 || node.inputs.size() < 3))
      product(n, node.inputs[0], node.inputs[1], a->transB != 0, g_.input(n, 2));
    else if (node.is("MaxPool") || node.is("Reshape") || node.is("Flatten") || node.is("Transpose") ||
             node.is("Squeeze") || node.is("Unsqueeze"))
      on_bytes(n);
  }

 private:
  DType type(ValueId v) const { return v && g_[v].fact.type.is_tensor() ? g_[v].fact.dtype() : DType::undefined; }
  bool literal(ValueId v) const { return v && g_.is_constant(v); }
  int64_t count(ValueId v) const { return g_.constant(v)->count(); }

  std::optional<Quantized> dequantized(ValueId v) const {
    const NodeId d = v ? g_[v].def : NodeId();
    const auto* a = d ? g_[d].as<op::DequantizeLinear>() : nullptr;
    if (!a || a->block_size != 0 || type(v) != DType::f32 || !has_operands(g_[d])) return std::nullopt;
    Quantized q{g_[d].inputs[0], g_[d].inputs[1], g_.input(d, 2), a->axis};
    if (type(q.scale) != DType::f32 || !literal(q.scale) || (q.zero && !literal(q.zero))) return std::nullopt;
    return q;
  }
  // An input that varies: bytes with one scale.
  std::optional<Quantized> activation(ValueId v) const {
    auto q = dequantized(v);
    return q && is_byte(type(q->bytes)) && count(q->scale) == 1 && fits(*q, 1) ? q : std::nullopt;
  }
  // Weights: constant bytes with one scale, or one along `axis`.
  std::optional<Quantized> weights(ValueId v, int64_t axis) const {
    auto q = dequantized(v);
    if (!q || !is_byte(type(q->bytes)) || !literal(q->bytes)) return std::nullopt;
    const auto shape = g_.constant(q->bytes)->shape();
    const auto rank = static_cast<int64_t>(shape.size());
    if (axis >= rank) return std::nullopt;
    if (count(q->scale) == 1) return fits(*q, 1) ? q : std::nullopt;
    return (q->axis == axis || q->axis + rank == axis) && fits(*q, shape[static_cast<size_t>(axis)]) ? q : std::nullopt;
  }
  // So many scales, and as many zero points of the type of the bytes.
  bool fits(const Quantized& q, int64_t scales) const {
    return count(q.scale) == scales && (!q.zero || (count(q.zero) == scales && type(q.zero) == type(q.bytes)));
  }
  bool without_zero(const Quantized& q) const {
    if (type(q.bytes) != DType::i8) return false;
    return !q.zero || all_zero(q.zero);
  }
  bool all_zero(ValueId v) const {
    const Loaded<int64_t> z(*g_.constant(v));
    return std::all_of(z.span().begin(), z.span().end(), [](int64_t n) { return n == 0; });
  }

  // What quantizes the result: the node's only reader, or behind an activation that the bytes' range does anyway.
  struct Result {
    ValueId out, scale, zero;
  };
  std::optional<Result> quantized(ValueId v) const {
    if (g_[v].uses.size() != 1 || !g_[v].uses[0].node) return std::nullopt;
    const Node& user = g_[g_[v].uses[0].node];
    if (user.home != g_[v].home || user.inputs[0] != v || !has_operands(user)) return std::nullopt;
    if (user.is("Relu") || user.is("Clip")) {
      auto r = quantized(user.outputs[0]);
      return r && implied(user, *r) ? r : std::nullopt;
    }
    const auto* a = user.as<op::QuantizeLinear>();
    if (!a || a->block_size != 0 || (a->precision != 0 && a->precision != 1) || !is_byte(type(user.outputs[0])))
      return std::nullopt;
    const ValueId scale = user.inputs[1], zero = user.inputs.size() > 2 ? user.inputs[2] : ValueId();
    if (type(scale) != DType::f32 || !literal(scale) || count(scale) != 1 ||
        (zero && (!literal(zero) || count(zero) != 1)))
      return std::nullopt;
    return Result{user.outputs[0], scale, zero};
  }
  bool implied(const Node& activation, const Result& r) const {
    const bool is_signed = type(r.out) == DType::i8;
    const double scale = g_.constant(r.scale)->double_at(0), zero = r.zero ? g_.constant(r.zero)->double_at(0) : 0;
    const double low = ((is_signed ? -128 : 0) - zero) * scale, high = ((is_signed ? 127 : 255) - zero) * scale;
    const auto bound = [&](size_t i, double absent) {
      if (i >= activation.inputs.size() || !activation.inputs[i]) return std::optional(absent);
      const auto t = literal(activation.inputs[i]) ? g_.constant(activation.inputs[i], 64) : std::nullopt;
      return t && t->count() == 1 ? std::optional(t->double_at(0)) : std::nullopt;
    };
    const auto from = activation.is("Relu") ? std::optional(0.0) : bound(1, -INFINITY),
               to = activation.is("Relu") ? std::optional<double>(INFINITY) : bound(2, INFINITY);
    return from && to && *from <= low + scale * 1e-3 && *to >= high - scale * 1e-3;
  }

  ValueId zero_of(const Quantized& q) {
    if (q.zero) return q.zero;
    return g_.add_constant(zeros(type(q.bytes), g_.constant(q.scale)->shape()));
  }
  ValueId zero_of(const Result& r) {
    return r.zero ? r.zero : g_.add_constant(zeros(type(r.out), g_.constant(r.scale)->shape()));
  }

  // The bias in units of the sums: its own integers, or rounded to them.
  std::optional<ValueId> integer_bias(ValueId bias, const Quantized& x, const Quantized& w, int64_t channels) {
    if (!bias) return ValueId();
    const auto q = dequantized(bias);
    if (q && q->zero && !all_zero(q->zero)) return std::nullopt;
    const auto values = q ? std::optional<Tensor>() : literal(bias) ? g_.constant(bias) : std::nullopt;
    const Loaded<float> sx(*g_.constant(x.scale)), sw(*g_.constant(w.scale));
    std::vector<int32_t> out;
    if ((!q || type(q->bytes) != DType::i32 || !literal(q->bytes)) && !(values && values->dtype() == DType::f32))
      return std::nullopt;
    const Tensor raw = q ? *g_.constant(q->bytes) : *values;
    if (raw.count() != channels || (sw.size() != 1 && sw.size() != channels)) return std::nullopt;
    const std::vector<double> v = raw.to_doubles(),
                              s = q ? g_.constant(q->scale)->to_doubles() : std::vector<double>{1.0};
    if ((s.size() != 1 && s.size() != v.size()) || (q && !fits(*q, static_cast<int64_t>(s.size()))))
      return std::nullopt;
    for (size_t i = 0; i < v.size(); ++i) {
      const double unit = double{sx[0]} * sw[sw.size() == 1 ? 0 : static_cast<int64_t>(i)],
                   own = s[s.size() == 1 ? 0 : i];
      const double number = q && std::fabs(own - unit) <= 1e-6 * unit ? v[i] : std::nearbyint(v[i] * own / unit);
      if (!(std::fabs(number) < 1e9)) return std::nullopt;
      out.push_back(static_cast<int32_t>(number));
    }
    return g_.add_constant(Tensor::of<int32_t>(DType::i32, {channels}, out), g_[bias].name);
  }

  void convolution(NodeId n) {
    const auto* a = g_[n].as<op::Conv>();
    const auto x = activation(g_[n].inputs[0]), w = weights(g_[n].inputs[1], 0);
    const auto y = quantized(g_[n].outputs[0]);
    if (!a || !x || !w || !y) return;
    if (a->group != 1 && !(bytes_are_fast_ && without_zero(*w))) return;
    const auto bias = integer_bias(g_.input(n, 2), *x, *w, g_.constant(w->bytes)->shape()[0]);
    if (!bias) return;
    op::QLinearConv q;
    q.auto_pad = a->auto_pad, q.dilations = a->dilations, q.group = a->group, q.kernel_shape = a->kernel_shape,
    q.pads = a->pads, q.strides = a->strides;
    std::vector<ValueId> in{x->bytes, x->scale, zero_of(*x), w->bytes, w->scale, zero_of(*w), y->scale, zero_of(*y)};
    if (*bias) in.push_back(*bias);
    On on(g_, g_[n].home, n);
    replace(n, y->out, on.make(std::move(q), std::move(in), 1)[0]);
  }

  // One number, or one per column: what an Add gives no other shape than Gemm does.
  bool is_row(ValueId bias, int64_t columns) const {
    const Fact& b = g_[bias].fact;
    if (type(bias) != DType::f32 || !b.has_rank() || b.rank() > 2) return false;
    return element_count(b.shape()).is(1) || (element_count(b.shape()).is(columns) && b.shape().back().is(columns));
  }

  void product(NodeId n, ValueId left, ValueId right, bool transposed, ValueId bias) {
    const auto x = activation(left), w = weights(right, transposed ? 0 : 1);
    if (!x || !w || g_.constant(w->bytes)->rank() != 2 || !g_[left].fact.has_rank() || g_[left].fact.rank() < 2) return;
    if (bias && !is_row(bias, g_.constant(w->bytes)->shape()[transposed ? 0 : 1])) return;
    On on(g_, g_[n].home, n);
    ValueId bytes = w->bytes;
    if (transposed)
      bytes = g_.add_initializer(
          g_.main(), g_[w->bytes].name,
          std::make_shared<const Weight>(
              g_[w->bytes].weight ? g_[w->bytes].weight->permuted(std::vector<int64_t>{1, 0})
                                  : Weight::of(*g_.constant(w->bytes)).permuted(std::vector<int64_t>{1, 0})));
    const auto y = bias ? std::nullopt : quantized(g_[n].outputs[0]);
    if (y)
      return replace(
          n, y->out,
          on.QLinearMatMul(x->bytes, x->scale, zero_of(*x), bytes, w->scale, zero_of(*w), y->scale, zero_of(*y)));
    // The sums as floats: times both scales, and what is added to them.
    std::vector<float> factors;
    const Loaded<float> sx(*g_.constant(x->scale)), sw(*g_.constant(w->scale));
    for (const float s : sw.span()) factors.push_back(sx[0] * s);
    const std::vector<int64_t> shape =
        factors.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{static_cast<int64_t>(factors.size())};
    const ValueId sums = on.cast(on.MatMulInteger(x->bytes, bytes, zero_of(*x), zero_of(*w)), DType::f32);
    ValueId out = on.Mul(sums, g_.add_constant(Tensor::of<float>(DType::f32, shape, factors)));
    if (bias) out = on.Add(out, bias);
    g_.replace_uses(g_[n].outputs[0], out);
    g_.erase(n);
  }

  // Choosing and moving elements needs no numbers, as long as the result is quantized as the input was.
  void on_bytes(NodeId n) {
    const auto x = activation(g_[n].inputs[0]);
    const auto y = quantized(g_[n].outputs[0]);
    if (!x || !y || type(x->bytes) != type(y->out) || g_[y->out].def != g_[g_[n].outputs[0]].uses[0].node) return;
    const auto value = [&](ValueId v) { return v ? g_.constant(v)->double_at(0) : 0; };
    if (value(x->scale) != value(y->scale) || value(x->zero) != value(y->zero)) return;
    std::vector<ValueId> in = g_[n].inputs;
    in[0] = x->bytes;
    On on(g_, g_[n].home, n);
    replace(n, y->out, on.emit(def(*g_[n].op), g_[n].attrs, std::move(in), 1)[0]);
  }

  // `with` stands for the last value of a chain that begins with the node; the chain goes.
  void replace(NodeId n, ValueId last, ValueId with) {
    g_.set_name(g_[with].def, g_[n].name);
    g_.replace_uses(last, with);
    for (NodeId dead = g_[last].def; dead != n;) {
      const NodeId before = g_[g_[dead].inputs[0]].def;
      g_.erase(dead);
      dead = before;
    }
    g_.erase(n);
  }

  Graph& g_;
  bool bytes_are_fast_;
};

// DequantizeLinear that is not used any more.
void sweep(Graph& g) {
  for (const NodeId n : g.nodes(g.main()))
    if (g[n].is("DequantizeLinear") && !g.used(g[n].outputs[0])) g.erase(n);
}

}  // namespace

void use_integers(Graph& g, bool onednn) {
  Integers pass(g, onednn);
  std::vector<NodeId> nodes;
  for (const NodeId n : g.nodes(g.main())) nodes.push_back(n);
  for (const NodeId n : nodes)
    if (!g[n].dead) pass.node(n);
  sweep(g);
}

}  // namespace cameo::engine
