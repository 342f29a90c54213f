// Types the target's schemas do not admit: computed in a wider type, with casts around the node.
#include <algorithm>

#include "backends/onnx/legaliser.h"
#include "backends/onnx/widening.h"

namespace cameo::onnx {

bool Legaliser::cast_exists(DType from, DType to) const {
  const SchemaVersion* schema = op_of<op::Cast>().at(opset_);
  return schema && admits(schema->types_of(*schema->input(0)), Type::tensor(from)) &&
         admits(schema->types_of(*schema->output(0)), Type::tensor(to));
}

TypeSet Legaliser::types_of(NodeId n, const SchemaVersion& schema, const Formal& f) const {
  return options_.limits ? options_.limits->admits(n, schema, f) : schema.types_of(f);
}

ValueId Legaliser::cast(ValueId v, DType to, NodeId before) {
  on_.move_to(g_[before].home, before);
  const ValueId out = on_.cast(v, to);
  // A constant stays one: older encodings want it as an attribute.
  if (const Tensor* known = g_[out].fact.tensor(); known && g_.is_constant(v)) {
    const ValueId constant = on_.constant(*known);
    g_.erase(g_[out].def);
    return constant;
  }
  root_of_[g_[out].def] = root_of_.at(before);
  return out;
}

void Legaliser::cast_back(NodeId n, size_t output, DType narrow, DType wide) {
  const ValueId v = g_[n].outputs[output];
  Fact& fact = g_.fact(v);
  const Type type = fact.type;
  fact.type.elem = wide;
  fact.contents.reset();
  if (!g_.used(v) && g_[v].name.empty()) return;
  if (const NodeId next = g_[n].next) on_.move_to(g_[n].home, next);
  else on_.move_to(g_[n].home);
  const ValueId back = on_.Cast(v, op::Cast{.to = static_cast<int64_t>(narrow)});
  const NodeId caster = g_[back].def;
  root_of_[caster] = root_of_.at(n);
  g_.replace_uses(v, back);
  g_.set_input(caster, 0, v);
  g_.fact(back).type = type;
  std::swap(g_.label(v).name, g_.label(back).name);
}

std::optional<std::string> Legaliser::fit_types(NodeId n) {
  root(n);
  Encoding e = encode_node(g_, n, opset_);
  if (e.refusal) return e.refusal;
  const OpDef& op = *find_op("", e.node.op_type);
  const SchemaVersion& schema = *op.at(opset_);
  const std::vector<ValueId> operands = e.node.inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Formal* f = schema.input(i);
    if (!f || !operands[i] || admits(types_of(n, schema, *f), g_[operands[i]].fact.type)) continue;
    if (f->option == Formal::variadic && !f->homogeneous)
      return cat("input ", i, " has a type it did not admit, ", g_[operands[i]].fact.type.onnx_text());
    if (auto why = fit_type_variable(n, op, schema, static_cast<int>(i), operands)) {
      if (admits(schema.types_of(*f), g_[operands[i]].fact.type)) continue;  // only the engine minds
      return why;
    }
    return fit_types(n);  // with the casts in place; each round settles one type variable
  }
  for (size_t i = 0; i < g_[n].outputs.size(); ++i) {
    const Formal* f = schema.output(i);
    if (f && !admits(schema.types_of(*f), g_[g_[n].outputs[i]].fact.type))
      return cat("output ", i, " has a type it did not admit, ", g_[g_[n].outputs[i]].fact.type.onnx_text());
  }
  return std::nullopt;
}

// Widens everything bound to the type variable of operand number `operand`.
std::optional<std::string> Legaliser::fit_type_variable(NodeId n, const OpDef& op, const SchemaVersion& schema,
                                                        int operand, const std::vector<ValueId>& operands) {
  const Formal& formal = *schema.input(static_cast<size_t>(operand));
  const Type& type = g_[operands[static_cast<size_t>(operand)]].fact.type;
  const auto refusal = cat("it did not admit ", type.onnx_text());
  if (!type.is_tensor()) return refusal;
  const DType narrow = type.elem;
  const auto wide = wider_type(narrow, op, types_of(n, schema, formal));
  if (!wide || !cast_exists(narrow, *wide) || !cast_exists(*wide, narrow))
    return cat(refusal, ", nor a type that holds all its values");
  const auto shares = [&](const Formal* f) {
    return f && (f == &formal || (formal.type_var >= 0 && f->type_var == formal.type_var));
  };
  std::vector<ValueId> changed;
  bool any = false;
  for (size_t i = 0; i < operands.size(); ++i)
    if (shares(schema.input(i)) && operands[i] && g_[operands[i]].fact.dtype() == narrow)
      changed.push_back(operands[i]);
  for (size_t i = 0; i < g_[n].inputs.size(); ++i) {
    const ValueId v = g_[n].inputs[i];
    if (v && std::find(changed.begin(), changed.end(), v) != changed.end())
      g_.set_input(n, i, cast(v, *wide, n)), any = true;
  }
  if (!any) return refusal;
  for (size_t i = 0; i < g_[n].outputs.size(); ++i) {
    const Formal* f = schema.output(i);
    if (f && formal.type_var >= 0 && f->type_var == formal.type_var) cast_back(n, i, narrow, *wide);
  }
  ++result.widened;
  return std::nullopt;
}

}  // namespace cameo::onnx
