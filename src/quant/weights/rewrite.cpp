#include "quant/weights/rewrite.h"

#include "ops/on.h"
#include "support/error.h"

namespace cameo::quant {

namespace {

ValueId add_stored(Graph& g, const WeightTarget& t, const char* suffix, std::shared_ptr<const Weight> w) {
  if (!w) return {};
  const std::string name = g[t.value].name;
  return g.add_initializer(g[t.value].home, name.empty() ? "" : cat(name, suffix), std::move(w));
}

struct Stored {
  ValueId levels, scales, zeros;
};
Stored add_all(Graph& g, const WeightTarget& t, const StoredMatrix& s, int bits) {
  Stored out;
  out.levels = add_stored(g, t, cat("_Q", bits).c_str(), s.levels);
  out.scales = add_stored(g, t, "_scales", s.scales);
  out.zeros = add_stored(g, t, "_zero_points", s.zeros);
  return out;
}

void put_product(Graph& g, NodeId n, const Matrix& m, const Stored& s) {
  const ir::NamedAttrs attrs{
      {"K", m.depth()}, {"N", m.outputs()}, {"bits", int64_t{m.format.bits}}, {"block_size", m.format.block}};
  const std::string name = g[n].name.empty() ? "" : cat(g[n].name, "_Q", m.format.bits);
  const ValueId bias = g[n].is("Gemm") ? g.input(n, 2) : ValueId(), out = g[n].outputs[0];
  const NodeId product =
      microsoft_node(g, g[n].home, "MatMulNBits", attrs, {g[n].inputs[0], s.levels, s.scales, s.zeros}, 1, n);
  g.set_name(product, name);
  const ValueId result = g[product].outputs[0];
  if (!bias) {
    take_over(g, out, result);
    return g.erase(n);
  }
  g.fact(result) = g[out].fact;
  const NodeId sum = g.add_node(g[n].home, op_of<op::Add>(), nullptr, {result, bias}, 1, n);
  take_over(g, out, g[sum].outputs[0]);
  g.erase(n);
}

// Rows of a matrix that MatMulNBits may read as well: one tensor in the file, which Reshape gives two axes.
void put_gather(Graph& g, NodeId n, const Matrix& m, const Stored& s) {
  const RegionId home = g[s.levels].home;
  const int64_t packed = m.depth() / m.format.levels_per_byte();
  const ValueId shape = g.add_constant(Tensor::ints(std::vector<int64_t>{m.outputs(), packed}), "", home);
  const NodeId flat = g.add_node(g[n].home, op_of<op::Reshape>(), nullptr, {s.levels, shape}, 1, n);
  const ir::NamedAttrs attrs{{"bits", int64_t{m.format.bits}},
                             {"block_size", m.format.block},
                             {"gather_axis", int64_t{0}},
                             {"quantize_axis", int64_t{1}}};
  const NodeId rows = microsoft_node(g, g[n].home, "GatherBlockQuantized", attrs,
                                     {g[flat].outputs[0], g[n].inputs[1], s.scales, s.zeros}, 1, n);
  g.set_name(rows, g[n].name.empty() ? "" : cat(g[n].name, "_Q", m.format.bits));
  take_over(g, g[n].outputs[0], g[rows].outputs[0]);
  g.erase(n);
}

}  // namespace

NodeId microsoft_node(Graph& g, RegionId home, std::string_view name, const ir::NamedAttrs& attrs,
                      std::vector<ValueId> inputs, size_t outputs, NodeId before) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  if (const OpDef* op = find_op("com.microsoft", name)) {
    const std::shared_ptr<void> made = op->make();
    for (const ir::NamedAttr& a : attrs)
      for (const ir::AttrField& field : op->fields)
        if (field.name == a.name) field.set(made.get(), a.value);
    return g.add_node(home, *op, made, std::move(inputs), outputs, before);
  }
  const NodeId n = g.add_node(home, ir::opaque_op("com.microsoft", name), nullptr, std::move(inputs), outputs, before);
  g.set_extra(n, attrs);
  return n;
}

void take_over(Graph& g, ValueId old, ValueId made) {
  g.fact(made) = g[old].fact;
  std::string name = g[old].name;
  g.replace_uses(old, made);
  g.rename(old, "");
  g.rename(made, std::move(name));
}

void drop_unused(Graph& g, ValueId v) {
  if (!v || g[v].kind == Value::Kind::dead || g.used(v)) return;
  if (g[v].kind == Value::Kind::initializer) g.erase_initializer(v);
  else if (g[v].def) g.erase(g[v].def);
}

void put_nbits(Graph& g, const WeightTarget& t, const Matrix& m) {
  const Stored s = add_all(g, t, stored_for_nbits(m), m.format.bits);
  for (const WeightUse& use : t.uses) {
    if (use.kind == WeightUse::Kind::gather) put_gather(g, use.node, m, s);
    else put_product(g, use.node, m, s);
    if (use.transpose && !g[use.transpose].dead) drop_unused(g, g[use.transpose].outputs[0]);
  }
  drop_unused(g, t.value);
}

void put_dequantize(Graph& g, const WeightTarget& t, const Matrix& m) {
  const Stored s = add_all(g, t, stored_for_dequantize(m, t.columns_are_outputs), m.format.bits);
  op::DequantizeLinear attrs;
  attrs.axis = t.columns_are_outputs ? 0 : 1;
  attrs.block_size = m.format.block;
  std::vector<ValueId> inputs{s.levels, s.scales};
  if (s.zeros) inputs.push_back(s.zeros);
  const NodeId before = g[t.value].def ? g[g[t.value].def].next : g[g[t.value].home].first;
  const NodeId n = g.add_node(g[t.value].home, op_of<op::DequantizeLinear>(),
                              std::make_shared<const op::DequantizeLinear>(attrs), std::move(inputs), 1, before);
  const ValueId out = g[n].outputs[0];
  g.fact(out).type = g[t.value].fact.type;
  g.replace_uses(t.value, out);
  drop_unused(g, t.value);
}

}  // namespace cameo::quant
