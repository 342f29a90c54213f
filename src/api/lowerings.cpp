// include/cameo/lowering.h: between staging's values and those of lowerings that others wrote.
#include "lowering/schema.h"
#include "staging/machine/machine.h"

#include "api/lowerings.h"
#include "api/node_builder.h"
#include "api/onnx_calls.h"

namespace cameo {

namespace {

using staging::Machine;
using Staged = staging::Value;

LoweringValue given(Machine& s, NodeBuilder& b, const Staged& v) {
  const auto var = [&](lowering::V value) { return LoweringValue(NodeBuilderState::var(b, value)); };
  if (v.is_none()) return {};
  if (const auto* flag = v.as<bool>()) return *flag;
  if (const auto* d = v.as<ir::Dim>()) return d->is_literal() ? LoweringValue(d->literal()) : var(s.on.int_scalar(*d));
  if (const auto* f = v.as<double>()) return *f;
  if (const auto* t = v.as<std::string>()) return *t;
  if (const auto* d = v.as<staging::Device>()) return d->name;
  if (const auto* t = v.as<staging::TensorRef>()) return var(s.read(*t));
  if (const auto* f = v.as<lowering::StagedFloat>()) return var(f->value);
  if (const auto* flag = v.as<lowering::StagedBool>()) return var(flag->value);
  if (v.is<staging::ListRef>() || v.is<staging::Tuple>()) {
    LoweringValue::List out;
    for (const Staged& item : std::vector<Staged>(s.items(v))) out.push_back(given(s, b, item));
    return out;
  }
  throw error("use.lowering", cat("an argument is ", v.kind(), ", which a lowering cannot be given"));
}

Staged taken(Machine& s, NodeBuilder& b, const LoweringValue& v) {
  const auto constant = [&](const ir::Tensor& t) { return s.tensor(s.on.constant(t)); };
  if (const auto* flag = std::get_if<bool>(&v.content)) return constant(ir::Tensor::bool_scalar(*flag));
  if (const auto* i = std::get_if<int64_t>(&v.content)) return constant(ir::Tensor::int_scalar(*i));
  if (const auto* d = std::get_if<double>(&v.content))
    return constant(ir::Tensor::float_scalar(static_cast<float>(*d)));
  if (const auto* t = std::get_if<std::string>(&v.content)) return *t;
  if (const auto* var = std::get_if<Var>(&v.content))
    return *var ? s.tensor(NodeBuilderState::checked(b, *var, "a lowering's result")) : Staged();
  if (const auto* list = std::get_if<LoweringValue::List>(&v.content)) {
    std::vector<Staged> items;
    for (const LoweringValue& item : *list) items.push_back(taken(s, b, item));
    return s.list(std::move(items));
  }
  return {};
}

std::vector<Staged> call_lowering(const Lowerings::Call& call, Machine& s, const std::string& op,
                                  const lowering::Schema* schema, const staging::CallArgs& args) {
  auto state = std::make_unique<NodeBuilderState>(NodeBuilderState{s.graph, s.on, {}, s.on.on_node, {}});
  state->staged = true;
  state->made = [&s](support::ValueId v) {  // sizes of foreign operators' results can be asked for later
    if (!s.on.fact(v).has_rank()) return;
    for (size_t axis = 0; axis < s.on.fact(v).shape().size(); ++axis)
      if (const ir::Dim d = s.on.fact(v).shape()[axis]; !d.is_literal())
        s.on.bind_axis(d, v, static_cast<int64_t>(axis));
  };
  const auto builder = NodeBuilderState::make(std::move(state));
  LoweringCall c{op, {}, schema != nullptr, {}};
  for (const Staged& v : args.positional) c.arguments.push_back(given(s, *builder, v));
  for (const auto& [key, v] : args.keywords) c.keywords.emplace_back(key, given(s, *builder, v));
  std::vector<Staged> out;
  for (const LoweringValue& v : call(*builder, c)) out.push_back(taken(s, *builder, v));
  if (out.empty() && schema && !schema->returns.empty())
    throw error("use.lowering", cat("the lowering of ", op, " gives no result"));
  return out;
}

}  // namespace

Var LoweringCall::tensor(size_t i) const {
  const Var* v = i < arguments.size() ? std::get_if<Var>(&arguments[i].content) : nullptr;
  if (!v) throw error("use.lowering", cat("argument ", i, " of ", op, " is not a tensor"));
  return *v;
}

std::shared_ptr<const staging::HostLowerings> host_lowerings(const Lowerings& all) {
  if (!all.names.empty() && !all.call)
    throw error("use.lowering", "operators are named, and no function is given that lowers them");
  auto out = std::make_shared<staging::HostLowerings>();
  out->names = all.names;
  for (const std::string_view op : api::onnx_calls()) out->names.emplace(op);
  const auto versions = out->versions = std::make_shared<std::map<std::string, int64_t>>();
  staging::HostLowerings own;  // the caller's, which come first
  own.names = all.names;
  out->call = [call = all.call, own, versions](Machine& s, const std::string& op, const lowering::Schema* schema,
                                               const staging::CallArgs& args) {
    if (own.has(op)) return call_lowering(call, s, op, schema, args);
    const auto onnx = [&](NodeBuilder& g, const LoweringCall& c) { return api::lower_onnx_call(g, c, *versions); };
    return call_lowering(onnx, s, op, schema, args);
  };
  return out;
}

}  // namespace cameo
