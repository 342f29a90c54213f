// Quantized models spell an operator on bytes out as DequantizeLinear, the operator on floats, QuantizeLinear. Products
// that stand so become products of integers; operators that only choose or move elements work on the bytes. A result
// may differ by one quantum from that of the floats, where both lie next to the middle between two.
#include "passes/rules/engine/quantized.h"
#include "passes/rules/engine/tables.h"

namespace cameo::passes {

namespace {

constexpr std::string_view not_quantized = "its operands are not dequantized bytes with constant scales";

bool has_one_output(const Rewrite& rw, NodeId n) { return rw.understood(n) && rw.g[n].outputs.size() == 1; }

// The operator whose result the root quantizes, through an activation that the bytes' range does anyway. Each value in
// between is read by the next one only.
std::optional<Quantizer> quantizer(const Rewrite& rw) {
  auto y = quantizer_at(rw, rw.node);
  if (!y) return std::nullopt;
  for (ValueId v = rw.in(0); v; v = rw.operand(v, 0)) {
    if (!has_one_output(rw, rw.maker(v)) || rw.g[rw.maker(v)].home != rw.root().home) return std::nullopt;
    if (!rw.single_use(v)) return std::nullopt;
    y->of = v;
    const Node& n = rw.g[rw.maker(v)];
    if (!n.is("Relu") && !n.is("Clip")) return y;
    if (!implied(rw, n, *y)) return std::nullopt;
  }
  return std::nullopt;
}

void convolution(Rewrite& rw) {
  const auto y = quantizer(rw);
  const auto* a = y ? rw.made_by<op::Conv>(y->of) : nullptr;
  if (!a) return;
  const auto x = activation(rw, rw.operand(y->of, 0)), w = quantized_weights(rw, rw.operand(y->of, 1), 0);
  if (!x || !w) return rw.no(not_quantized);
  if (a->group != 1 && !(rw.engine->multiplies_bytes && has_no_zero_point(rw, *w)))
    return rw.no("groups of bytes are slower than of floats here");
  const auto bias = integer_bias(rw, rw.operand(y->of, 2), *x, *w, sizes(rw, w->bytes)->at(0));
  if (!bias) return rw.no("the bias is not a constant in units of the sums");
  op::QLinearConv q;
  q.auto_pad = a->auto_pad, q.dilations = a->dilations, q.group = a->group, q.kernel_shape = a->kernel_shape,
  q.pads = a->pads, q.strides = a->strides;
  std::vector<ValueId> in{x->bytes, x->scale,        zero_of(rw, *x), w->bytes,
                          w->scale, zero_of(rw, *w), y->scale,        zero_of(rw, *y)};
  if (*bias) in.push_back(*bias);
  rw.shape_is_kept();
  const ValueId out = rw.on.make(std::move(q), std::move(in), 1)[0];
  rw.g.set_name(rw.maker(out), rw.g[rw.maker(y->of)].name);
  rw.replace(out);
}

// A product by constant weights: MatMul, or a Gemm that is one with something added.
struct Product {
  Dequantized x, w;
  ValueId weights;  // as MatMul wants them
  ValueId bias;
};

// One number, or one per column: what an Add gives no other shape than Gemm does.
bool is_row(const Rewrite& rw, ValueId bias, int64_t columns) {
  if (element_of(rw, bias) != DType::f32 || !rw.has_rank(bias) || rw.rank(bias) > 2) return false;
  const Dim count = element_count(rw.shape(bias));
  return count.is(1) || (count.is(columns) && rw.shape(bias).back().is(columns));
}

std::optional<Product> product_at(Rewrite& rw, NodeId n) {
  if (!has_one_output(rw, n)) return std::nullopt;
  const auto* gemm = rw.g[n].as<op::Gemm>();
  const ValueId left = rw.g.input(n, 0), right = rw.g.input(n, 1), bias = gemm ? rw.g.input(n, 2) : ValueId();
  if (!gemm && !rw.g[n].is("MatMul")) return std::nullopt;
  if (gemm && (gemm->alpha != 1 || gemm->transA || (gemm->beta != 1 && bias))) return std::nullopt;
  const bool transposed = gemm && gemm->transB;
  const auto x = activation(rw, left), w = quantized_weights(rw, right, transposed ? 0 : 1);
  if (!x || !w || sizes(rw, w->bytes)->size() != 2 || !rw.has_rank(left) || rw.rank(left) < 2) return std::nullopt;
  if (bias && !is_row(rw, bias, sizes(rw, w->bytes)->at(transposed ? 0 : 1))) return std::nullopt;
  ValueId weights = w->bytes;
  if (transposed) {
    const Weight* stored = rw.weight(weights);
    const Weight whole = stored ? *stored : Weight::of(rw.content(weights));
    weights = rw.on.weight(whole.permuted(std::vector<int64_t>{1, 0}), rw.g[weights].name);
  }
  return Product{*x, *w, weights, bias};
}

void product(Rewrite& rw) {
  const auto y = quantizer(rw);
  if (!y || !(rw.made_by<op::MatMul>(y->of) || rw.made_by<op::Gemm>(y->of))) return;
  const auto p = product_at(rw, rw.maker(y->of));
  if (!p) return rw.no(not_quantized);
  if (p->bias) return rw.no("something is added");
  rw.shape_is_kept();
  const ValueId out = rw.on.QLinearMatMul(p->x.bytes, p->x.scale, zero_of(rw, p->x), p->weights, p->w.scale,
                                          zero_of(rw, p->w), y->scale, zero_of(rw, *y));
  rw.g.set_name(rw.maker(out), rw.g[rw.maker(y->of)].name);
  rw.replace(out);
}

// Whether what reads the root quantizes it, so that the rule above is for it.
bool is_quantized(Rewrite& rw) {
  ValueId v = rw.out();
  while (rw.single_use(v) && rw.g[v].uses[0].node) {
    const NodeId reader = rw.g[v].uses[0].node;
    if (rw.g[reader].is("QuantizeLinear")) {
      Rewrite from(rw.g, reader, rw.opset, false);
      from.standing = rw.standing;
      const auto y = quantizer(from);
      return y && y->of == rw.out();
    }
    if (!(rw.g[reader].is("Relu") || rw.g[reader].is("Clip")) || rw.g[reader].outputs.size() != 1) return false;
    v = rw.g[reader].outputs[0];
  }
  return false;
}

// The sums as floats: times both scales, and what is added to them.
void product_to_floats(Rewrite& rw) {
  const auto p = product_at(rw, rw.node);
  if (!p) return;
  if (!p->bias && is_quantized(rw)) return rw.no("its result is quantized again");
  std::vector<float> factors;
  const Loaded<float> sx(rw.content(p->x.scale)), sw(rw.content(p->w.scale));
  for (const float s : sw.span()) factors.push_back(sx[0] * s);
  std::vector<int64_t> shape;
  if (factors.size() != 1) shape.push_back(static_cast<int64_t>(factors.size()));
  const ValueId sums = rw.on.MatMulInteger(p->x.bytes, p->weights, zero_of(rw, p->x), zero_of(rw, p->w));
  rw.g.set_name(rw.maker(sums), rw.root().name);
  ValueId out = rw.on.Mul(rw.on.cast(sums, DType::f32), rw.on.constant(Tensor::of<float>(DType::f32, shape, factors)));
  if (p->bias) out = rw.on.Add(out, p->bias);
  rw.replace(out);
}

// A Resize that only repeats or leaves out elements.
bool is_nearest(const Node& n) {
  const auto* a = n.as<op::Resize>();
  return a && a->mode == "nearest" && a->coordinate_transformation_mode != "tf_crop_and_resize";
}

// Choosing and moving elements needs no numbers, as long as the result is quantized as the input was.
void on_bytes(Rewrite& rw) {
  const auto y = quantizer_at(rw, rw.node);
  const NodeId n = y ? rw.maker(rw.in(0)) : NodeId();
  static constexpr std::string_view movers[] = {"MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze"};
  if (!has_one_output(rw, n) || !rw.single_use(rw.in(0)) ||
      (!is_nearest(rw.g[n]) &&
       std::none_of(std::begin(movers), std::end(movers), [&](std::string_view m) { return rw.g[n].is(m); })))
    return;
  const auto x = activation(rw, rw.g.input(n, 0));
  if (!x || element_of(rw, x->bytes) != element_of(rw, rw.out())) return rw.no(not_quantized);
  const auto value = [&](ValueId v) { return v ? rw.content(v).double_at(0) : 0; };
  if (value(x->scale) != value(y->scale) || value(x->zero) != value(y->zero))
    return rw.no("the result is quantized otherwise than the input");
  const Node mover = rw.g[n];
  std::vector<ValueId> in = mover.inputs;
  in[0] = x->bytes;
  rw.shape_is_kept();
  const ValueId out = rw.on.emit(def(*mover.op), mover.attrs, std::move(in), 1)[0];
  rw.g.set_name(rw.maker(out), mover.name);
  rw.replace(out);
}

}  // namespace

std::vector<Rule> integer_rules() {
  return {rule("integer-conv", {"QuantizeLinear"}, convolution).rounding(),
          rule("integer-matmul", {"QuantizeLinear"}, product).rounding(),
          rule("integer-move", {"QuantizeLinear"}, on_bytes),
          rule("integer-matmul-to-float", {"MatMul", "Gemm"}, product_to_floats).rounding().growing()};
}

}  // namespace cameo::passes
