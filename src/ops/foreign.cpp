// com.microsoft's operators, as onnxruntime's quantizer and optimizer write them: one row each.
#include "ops/foreign.h"

#include <algorithm>

#include "ops/custom.h"
#include "ops/on.h"

namespace cameo::ops {

namespace {

// One call, and what its row writes with.
class Call {
 public:
  Call(Graph& g, NodeId n) : on(g, g[n].home, n), g_(g), n_(n) {}

  bool has(size_t i) const { return g_.input(n_, i).valid(); }
  ValueId in(size_t i) const { return g_.input(n_, i); }
  size_t in_count() const { return g_[n_].inputs.size(); }
  size_t out_count() const { return g_[n_].outputs.size(); }
  template <class T>
  std::optional<T> attribute(std::string_view name) const {
    const AttrValue* v = g_[n_].extra ? find_attr(*g_[n_].extra, name) : nullptr;
    const T* given = v ? std::get_if<T>(v) : nullptr;
    return given ? std::optional(*given) : std::nullopt;
  }
  int64_t integer(std::string_view name, int64_t otherwise) const {
    return attribute<int64_t>(name).value_or(otherwise);
  }
  float number(std::string_view name, float otherwise) const { return attribute<float>(name).value_or(otherwise); }

  ValueId dequantized(size_t i) { return on.DequantizeLinear(in(i), in(i + 1), in(i + 2)); }
  ValueId quantized(ValueId x, size_t scale) { return on.QuantizeLinear(x, in(scale), in(scale + 1)); }
  ValueId f32(ValueId x) { return on.Cast(x, {.to = static_cast<int64_t>(DType::f32)}); }

  On on;

 private:
  Graph& g_;
  NodeId n_;
};

using Results = std::vector<ValueId>;  // none: the row does not understand the node

Results add(Call& c) { return {c.quantized(c.on.Add(c.dequantized(0), c.dequantized(3)), 6)}; }
Results multiply(Call& c) { return {c.quantized(c.on.Mul(c.dequantized(0), c.dequantized(3)), 6)}; }
Results sigmoid(Call& c) { return {c.quantized(c.on.Sigmoid(c.dequantized(0)), 3)}; }
Results leaky_relu(Call& c) {
  return {c.quantized(c.on.LeakyRelu(c.dequantized(0), {.alpha = c.number("alpha", 0.01f)}), 3)};
}
Results softmax(Call& c) {
  if (c.integer("opset", 13) < 13) return {};  // flattens its operand
  return {c.quantized(c.on.Softmax(c.dequantized(0), {.axis = c.integer("axis", -1)}), 3)};
}
Results select(Call& c) { return {c.quantized(c.on.Where(c.in(0), c.dequantized(1), c.dequantized(4)), 7)}; }
Results global_average(Call& c) {
  if (c.integer("channels_last", 0)) return {};
  return {c.quantized(c.on.GlobalAveragePool(c.dequantized(0)), 3)};
}
Results average(Call& c) {
  const auto kernel = c.attribute<std::vector<int64_t>>("kernel_shape");
  if (c.integer("channels_last", 0) || !kernel) return {};
  op::AveragePool a;
  a.kernel_shape = *kernel;
  a.auto_pad = c.attribute<std::string>("auto_pad").value_or(a.auto_pad);
  a.ceil_mode = c.integer("ceil_mode", 0);
  a.count_include_pad = c.integer("count_include_pad", 0);
  if (auto pads = c.attribute<std::vector<int64_t>>("pads")) a.pads = std::move(*pads);
  if (auto strides = c.attribute<std::vector<int64_t>>("strides")) a.strides = std::move(*strides);
  return {c.quantized(c.on.AveragePool(c.dequantized(0), a), 3)};
}
Results reduce_mean(Call& c) {
  const auto axes = c.attribute<std::vector<int64_t>>("axes");
  return {c.quantized(
      c.on.ReduceMean(c.dequantized(0), axes ? c.on.ints(*axes) : ValueId(), {.keepdims = c.integer("keepdims", 1)}),
      3)};
}
Results concat(Call& c) {
  std::vector<ValueId> parts;
  for (size_t i = 2; i + 1 < c.in_count(); i += 3) parts.push_back(c.dequantized(i));
  if (parts.empty()) return {};
  return {c.quantized(c.on.Concat(parts, {.axis = c.integer("axis", 0)}), 0)};
}

// a * b of whole numbers, with the scales and the bias of what they stand for.
ValueId scaled_product(Call& c, ValueId a, ValueId b, ValueId a_zero, ValueId b_zero, ValueId scale, ValueId bias) {
  const ValueId y = c.on.Mul(c.f32(c.on.MatMulInteger(a, b, a_zero, b_zero)), scale);
  return bias ? c.on.Add(y, bias) : y;
}
Results dynamic_matmul(Call& c) {  // A, B, b_scale, b_zero_point, bias
  const auto a = c.on.DynamicQuantizeLinear(c.in(0), 3);
  return {scaled_product(c, a[0], c.in(1), a[2], c.in(3), c.on.Mul(a[1], c.in(2)), c.in(4))};
}
Results matmul_to_float(Call& c) {  // A, B, a_scale, b_scale, a_zero_point, b_zero_point, bias
  return {scaled_product(c, c.in(0), c.in(1), c.in(4), c.in(5), c.on.Mul(c.in(2), c.in(3)), c.in(6))};
}
Results gemm(Call& c) {  // A, a_scale, a_zero_point, B, b_scale, b_zero_point, C, y_scale, y_zero_point
  const float alpha = c.number("alpha", 1);
  const ValueId b = c.on.DequantizeLinear(c.in(3), c.in(4), c.in(5), {.axis = c.integer("transB", 0) ? 0 : 1});
  ValueId y = c.on.Gemm(c.dequantized(0), b, {},
                        {.alpha = alpha, .transA = c.integer("transA", 0), .transB = c.integer("transB", 0)});
  if (c.has(6)) {  // whole numbers, in steps of both scales
    const ValueId step = c.on.Mul(c.in(1), c.in(4));
    y = c.on.Add(y, c.on.Mul(c.on.Mul(c.f32(c.in(6)), step), c.on.number(alpha, DType::f32)));
  }
  return {c.has(7) ? c.quantized(y, 7) : y};
}

// input, weight, bias, input_scale, weight_scale, mask_index, input_zero, weight_zero, past: the weight has the columns
// of q, k and v side by side.
Results attention(Call& c) {
  const int64_t heads = c.integer("num_heads", 0);
  if (c.has(5) || c.has(8) || c.out_count() > 1 || heads < 1 || c.integer("unidirectional", 0)) return {};
  const auto zero = [&](size_t i) { return c.has(i) ? c.in(i) : ValueId(); };
  const ValueId all = scaled_product(c, c.in(0), c.in(1), zero(6), zero(7), c.on.Mul(c.in(3), c.in(4)), c.in(2));
  const auto parts = c.on.Split(all, 3, {}, {.axis = -1, .num_outputs = 3});
  op::Attention a;
  a.q_num_heads = a.kv_num_heads = heads;
  a.scale = c.attribute<float>("scale");
  return {c.on.Attention(parts[0], parts[1], parts[2], 1, {}, {}, {}, {}, a)[0]};
}

Results quantize(Call& c) { return {c.on.QuantizeLinear(c.in(0), c.in(1), c.in(2), {.axis = c.integer("axis", 1)})}; }
Results dequantize(Call& c) {
  return {c.on.DequantizeLinear(c.in(0), c.in(1), c.in(2), {.axis = c.integer("axis", 1)})};
}
Results gelu(Call& c) { return {c.on.Gelu(c.in(0))}; }
Results bias_gelu(Call& c) { return {c.on.Gelu(c.on.Add(c.in(0), c.in(1)))}; }
Results fast_gelu(Call& c) {
  return {c.on.Gelu(c.has(1) ? c.on.Add(c.in(0), c.in(1)) : c.in(0), {.approximate = "tanh"})};
}

struct Row {
  std::string_view name;
  size_t least;  // operands that have to be there
  Results (*spell)(Call&);
};
constexpr Row rows[] = {
    {"QLinearAdd", 7, add},
    {"QLinearMul", 7, multiply},
    {"QLinearSigmoid", 4, sigmoid},
    {"QLinearLeakyRelu", 4, leaky_relu},
    {"QLinearSoftmax", 4, softmax},
    {"QLinearWhere", 8, select},
    {"QLinearGlobalAveragePool", 4, global_average},
    {"QLinearAveragePool", 4, average},
    {"QLinearReduceMean", 4, reduce_mean},
    {"QLinearConcat", 4, concat},
    {"DynamicQuantizeMatMul", 3, dynamic_matmul},
    {"MatMulIntegerToFloat", 4, matmul_to_float},
    {"QGemm", 6, gemm},
    {"QAttention", 5, attention},
    {"QuantizeLinear", 2, quantize},
    {"DequantizeLinear", 2, dequantize},
    {"Gelu", 1, gelu},
    {"BiasGelu", 2, bias_gelu},
    {"FastGelu", 1, fast_gelu},
};

const Row* row_of(const Node& n) {
  if (n.dead || !n.op || custom(*n.op) || n.op->domain != "com.microsoft" || !n.regions.empty()) return nullptr;
  const auto it = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.name == n.op->name; });
  return it == std::end(rows) || n.inputs.size() < it->least ? nullptr : it;
}

void spell(Graph& g, NodeId n, const Row& row) {
  Call c(g, n);
  const Results results = row.spell(c);
  if (results.size() < g[n].outputs.size()) return;
  for (size_t i = 0; i < g[n].outputs.size(); ++i) {
    const ValueId old = g[n].outputs[i];
    std::string name = g[old].name;
    g.label(old).name.clear();
    g.replace_uses(old, results[i]);
    g.label(results[i]).name = std::move(name);
  }
  g.erase(n);
}

}  // namespace

bool has_foreign(const Graph& g) {
  for (uint32_t i = 0; i < g.node_capacity(); ++i)
    if (row_of(g[NodeId(i)])) return true;
  return false;
}

void spell_foreign(Graph& g) {
  const auto before = static_cast<uint32_t>(g.node_capacity());
  for (uint32_t i = 0; i < before; ++i)
    if (const Row* row = row_of(g[NodeId(i)])) spell(g, NodeId(i), *row);
}

}  // namespace cameo::ops
