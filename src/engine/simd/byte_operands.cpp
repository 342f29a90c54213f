#include "engine/simd/byte_operands.h"

#include <algorithm>
#include <cmath>

#include "engine/emit.h"
#include "engine/simd/integer.h"
#include "ops/eval.h"
#include "ops/generated/attributes.h"
#include "support/error.h"

namespace cameo::engine {

std::optional<Quantum> quantum_of(Compiler& c, const Node& n) {
  const auto scale = c.scalar(n.inputs[1]);
  const auto zero = constant_zero(c, input_of(n, 2));
  if (!scale || !zero || !(*scale > 0) || !std::isfinite(*scale)) return std::nullopt;
  return Quantum{*scale, static_cast<float>(*zero)};
}

std::optional<Operand> dequantized(Compiler& c, NodeId n) {
  const auto* a = n ? c.graph()[n].as<op::DequantizeLinear>() : nullptr;
  if (!a || a->block_size != 0) return std::nullopt;
  const Node& node = c.graph()[n];
  const Desc* d = c.desc(node.inputs[0]);
  if (!d || !is_byte(d->dtype) || d->count() == 0 || !c.is_f32(node.outputs[0])) return std::nullopt;
  const auto q = quantum_of(c, node);
  return q ? std::optional(Operand{node.inputs[0], *q, d->dtype}) : std::nullopt;
}

namespace {

bool is_quantizer(Compiler& c, NodeId n) {
  const auto* a = n ? c.graph()[n].as<op::QuantizeLinear>() : nullptr;
  return a && a->block_size == 0 && a->precision <= 1 && c.desc(c.graph()[n].outputs[0]) &&
         is_byte(c.desc(c.graph()[n].outputs[0])->dtype) && quantum_of(c, c.graph()[n]);
}

// Operators that look at each element alone; further operands are constants.
bool is_unary(Compiler& c, const Node& n) {
  static constexpr std::string_view names[] = {
      "Relu", "LeakyRelu", "Sigmoid",  "Tanh",     "HardSwish", "HardSigmoid", "Elu",
      "Selu", "Swish",     "Gelu",     "Clip",     "Exp",       "Sqrt",        "Abs",
      "Neg",  "Erf",       "Softplus", "Softsign", "Mish",      "Celu",        "ThresholdedRelu"};
  if (n.outputs.size() != 1 || std::none_of(std::begin(names), std::end(names), [&](auto name) { return n.is(name); }))
    return false;
  for (size_t i = 1; i < n.inputs.size(); ++i)
    if (n.inputs[i] && !(c.is_constant(n.inputs[i]) && c.desc(n.inputs[i])->count() == 1)) return false;
  return true;
}

// The node on known numbers, by its reference kernel.
Tensor computed(Compiler& c, NodeId n, const Tensor& x) {
  const Node& node = c.graph()[n];
  std::vector<Datum> operands{Datum(x)};
  for (size_t i = 1; i < node.inputs.size(); ++i)
    operands.push_back(node.inputs[i] ? Datum(*c.constant(node.inputs[i])) : Datum());
  std::vector<const Datum*> pointers;
  for (size_t i = 0; i < operands.size(); ++i) pointers.push_back(node.inputs[i] ? &operands[i] : nullptr);
  return evaluate_node(node, pointers).at(0).tensor;
}

}  // namespace

Desc like(const Desc& lies, DType type) {
  return lies.plain() ? Desc{type, lies.dims, nullptr} : dense_desc(type, lies.dims, Physical(lies).order);
}

SlotId dense_slot(Compiler& c, ValueId v) { return c.slot_desc(c.slot(v)).dense() ? c.slot(v) : c.plain(v); }

std::optional<Chain> chain_from(Compiler& c, ValueId v) {
  const Desc* first = c.desc(v);
  if (!first) return std::nullopt;  // sizes that depend on data
  const auto& shape = first->dims;
  Chain out;
  for (NodeId n = c.only_user(v); n; n = c.only_user(v)) {
    const Node& node = c.graph()[n];
    if (node.inputs[0] != v) return std::nullopt;
    if (is_quantizer(c, n)) {
      out.end = n;
      return out;
    }
    if (!is_unary(c, node) || !c.is_f32(node.outputs[0]) || c.desc(node.outputs[0])->dims != shape) return std::nullopt;
    out.nodes.push_back(n);
    v = node.outputs[0];
  }
  return std::nullopt;
}

std::optional<ByteTable> table_of(Compiler& c, NodeId n, const Operand& x, const Chain& chain) {
  std::vector<uint8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  Tensor t = computed(c, n, Tensor::of<uint8_t>(x.type, {256}, all));
  for (const NodeId part : chain.nodes) t = computed(c, part, t);
  t = computed(c, chain.end, t);
  if (t.bytes().size() != all.size()) return std::nullopt;
  ByteTable out;
  std::copy_n(t.as<uint8_t>().data(), out.size(), out.data());
  return out;
}

void finish(Compiler& c, NodeId n, const Chain& chain, const std::string& first, std::unique_ptr<Kernel> kernel,
            std::vector<SlotId> in, const Desc& lies) {
  std::string label = first;
  for (const NodeId part : chain.nodes) {
    label += cat(label.empty() ? "" : "+", c.graph()[part].op->name);
    c.absorb(part);
  }
  const ValueId y = c.graph()[chain.end].outputs[0];
  c.absorb(chain.end);
  const SlotId out = c.make(like(lies, c.desc(y)->dtype));
  c.step(n, label.empty() ? "requantize" : label, std::move(kernel), std::move(in), {out});
  c.bind(y, out);
}

}  // namespace cameo::engine
