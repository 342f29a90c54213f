// What `--fallback` and `--rules` make of operators in place of a lowering, and literals that say "training".
#include <algorithm>

#include "ir/clone.h"
#include "ops/infer.h"
#include "staging/export/foreign_types.h"
#include "staging/machine/interpreter.h"
#include "staging/machine/machine.h"
#include "support/progress.h"

namespace cameo::staging {

namespace {

bool is_dropout_without_effect(const Schema& s, const std::vector<Value>& args) {
  for (size_t i = 0; i < s.params.size() && i < args.size(); ++i) {
    if (s.params[i].name != "p" && s.params[i].name != "dropout") continue;
    const auto* p = args[i].as<double>();
    if (p && *p == 0) return true;
  }
  return false;
}

// The arguments of a node of a foreign domain: tensors are operands, what is known is an attribute or a constant.
class Operands {
 public:
  Operands(Machine& s, bool constants) : s_(s), constants_(constants) {}
  std::vector<ValueId> inputs;
  NamedAttrs attrs;

  void add(const std::string& name, const Value& v) {
    if (const auto* t = v.as<TensorRef>()) inputs.push_back(s_.read(*t));
    else if (const auto* f = v.as<StagedFloat>()) inputs.push_back(f->value);
    else if (const auto* b = v.as<StagedBool>()) inputs.push_back(b->value);
    else if (const auto* d = v.as<Dim>(); d && (constants_ || !d->is_literal())) inputs.push_back(s_.on.int_scalar(*d));
    else if (v.is_none()) inputs.push_back({});
    else if (v.is<ListRef>() || v.is<Tuple>()) add_list(name, s_.items(v));
    else if (constants_ && v.is<bool>()) inputs.push_back(s_.on.constant(Tensor::bool_scalar(v.need<bool>())));
    else if (constants_ && v.is<double>()) inputs.push_back(s_.on.number(v.need<double>(), DType::f32));
    else add_attribute(name, v);
  }

 private:
  void add_list(const std::string& name, const std::vector<Value>& items) {
    const auto all = [&](auto has) { return std::all_of(items.begin(), items.end(), has); };
    if (all([](const Value& v) { return v.is<Dim>(); })) {
      Dims dims;
      for (const Value& v : items) dims.push_back(v.need<Dim>());
      if (constants_ || !all([](const Value& v) { return v.need<Dim>().is_literal(); }))
        return inputs.push_back(s_.on.int_vector(dims));
      std::vector<int64_t> ints;
      for (const Dim d : dims) ints.push_back(d.literal());
      return attrs.push_back({name, std::move(ints)});
    }
    if (all([](const Value& v) { return v.is<double>(); })) {
      std::vector<float> floats;
      for (const Value& v : items) floats.push_back(static_cast<float>(v.need<double>()));
      return attrs.push_back({name, std::move(floats)});
    }
    if (all([](const Value& v) { return v.is<TensorRef>(); })) {
      std::vector<ValueId> parts;
      for (const Value& v : items) parts.push_back(s_.read(v.need<TensorRef>()));
      return inputs.push_back(s_.on.SequenceConstruct(parts));
    }
    for (size_t i = 0; i < items.size(); ++i) add(cat(name, i), items[i]);
  }

  void add_attribute(const std::string& name, const Value& v) {
    if (const auto* b = v.as<bool>()) attrs.push_back({name, int64_t{*b}});
    else if (const auto* d = v.as<Dim>()) attrs.push_back({name, d->literal()});
    else if (const auto* f = v.as<double>()) attrs.push_back({name, static_cast<float>(*f)});
    else if (const auto* text = v.as<std::string>()) attrs.push_back({name, *text});
    else if (const auto* device = v.as<Device>()) attrs.push_back({name, device->name});
    else s_.fail("stage.fallback", cat("argument '", name, "' is ", v.kind(), ", which no node can hold"));
  }

  Machine& s_;
  bool constants_;
};

std::string_view after(std::string_view text, std::string_view separator) {
  const auto at = text.find(separator);
  return at == text.npos ? std::string_view() : text.substr(at + separator.size());
}

}  // namespace

void Machine::training_literals(const Schema& s, std::vector<Value>& args) {
  if (options.training == true) return;
  for (size_t i = 0; i < s.params.size() && i < args.size(); ++i) {
    if (s.params[i].name != "train" && s.params[i].name != "training") continue;
    const auto* on_now = args[i].as<bool>();
    if (!on_now || !*on_now || is_dropout_without_effect(s, args)) continue;
    if (options.change_literals) args[i] = false;
    const bool first = told.first(cat("training ", s.full_name()));
    if (first && options.change_literals)
      sink_.note("export.training", cat(s.full_name(), " was recorded in training mode: exported as in evaluation"),
                 here());
    else if (first)
      sink_.warn("export.training", cat(s.full_name(), " was recorded in training mode and stays so"), here()).hint =
          "--training eval exports it as in evaluation; better, call .eval() before tracing";
  }
}

std::vector<Value> Machine::foreign_op(const std::string& full, const Schema* s, const CallArgs& args) {
  const std::string base = full.substr(0, full.find('.'));
  const bool known = ops::find_op(base.substr(0, base.find("::")), after(base, "::")) != nullptr;
  const bool aten = !known && (options.fallback == Fallback::aten || options.fallback == Fallback::all_aten);
  Operands operands(*this, aten);
  for (size_t i = 0; i < args.positional.size(); ++i)
    operands.add(s && i < s->params.size() ? s->params[i].name : cat("arg", i), args.positional[i]);
  for (const auto& [key, value] : args.keywords) operands.add(std::string(key), value);
  while (!operands.inputs.empty() && !operands.inputs.back()) operands.inputs.pop_back();
  if (aten) {
    operands.attrs.insert(operands.attrs.begin(),
                          {"operator", std::string(base.starts_with("aten::") ? after(base, "::") : base)});
    operands.attrs.push_back({"overload_name", s ? s->overload : std::string()});
  }
  const OpInfo& op =
      aten ? opaque_op("org.pytorch.aten", "ATen") : opaque_op(base.substr(0, base.find("::")), after(base, "::"));
  on.where = here();
  const auto typed = std::find_if(operands.inputs.begin(), operands.inputs.end(),
                                  [&](ValueId v) { return v && on.fact(v).type.is_tensor(); });
  const DType assumed = typed == operands.inputs.end() ? DType::undefined : on.dtype(*typed);
  const std::vector<Type> declared =
      options.types.empty() ? std::vector<Type>() : declared_types(*this, base, foreign_calls(graph, base), s, args);
  // More types than the program has names for: those of one result that is a list.
  const size_t names = s ? s->returns.size() : std::max<size_t>(results_wanted_, 1);
  const bool is_list = !s && names == 1 && declared.size() > 1;
  const size_t results = is_list ? declared.size() : names;
  const NodeId n = graph.add_node(on.region(), op, nullptr, std::move(operands.inputs), std::max<size_t>(results, 1));
  graph.set_extra(n, std::move(operands.attrs));
  if (const Lowering named(*this, full); on.on_node) on.on_node(n);
  if (!known && options.fallback != Fallback::all_aten && told.first(cat("foreign ", full))) {
    Diag& d = sink_.warn("export.fallback", cat(full, " is kept as a node ", op.domain, "::", op.name), here());
    if (declared.empty() && !(interpreter_ && interpreter_->has_types())) {
      d.because = "its result is assumed to have the element type of its first tensor, and an unknown shape";
      d.hint =
          cat("--type declares it: '", base, "=f32[batch,3]', or '", base, "=arg0', the type of its first argument");
    }
  }
  std::vector<Value> out;
  for (size_t i = 0; i < results; ++i) {
    const V v = graph[n].outputs[i];
    const auto kind = s ? s->returns[i].type.kind : SchemaType::Kind::tensor;
    if (i < declared.size()) set_type(v, declared[i]);
    else if (kind == SchemaType::Kind::tensor && assumed != DType::undefined)
      graph.fact(v).type = Type::tensor(assumed);
    if (kind == SchemaType::Kind::floating) out.emplace_back(StagedFloat{v});
    else if (kind == SchemaType::Kind::boolean) out.emplace_back(StagedBool{v});
    else if (kind == SchemaType::Kind::tensor) out.push_back(tensor(v));
    else out.push_back(poison(cat("the result of ", full, " is not a tensor, and was kept as a foreign node")));
  }
  if (is_list) return {list(std::move(out))};
  return out;
}

// The type of a value that nothing infers; its sizes can be read at run time.
void Machine::set_type(V v, const Type& type) {
  graph.fact(v).type = type;
  if (!type.has_rank()) return;
  for (size_t axis = 0; axis < type.shape->size(); ++axis)
    if (const Dim d = (*type.shape)[axis]; !d.is_literal()) on.bind_axis(d, v, static_cast<int64_t>(axis));
}

const LocalFunction* Machine::user_lowering(std::string_view full) const {
  if (!options.rules) return nullptr;
  const auto dot = std::min(full.find('.'), full.size());
  const auto base = full.substr(0, dot), overload = full.substr(std::min(dot + 1, full.size()));
  const auto colons = base.find("::");
  for (const LocalFunction& f : options.rules->functions)
    if (f.domain == base.substr(0, colons) && f.name == after(base, "::") &&
        (f.overload.empty() || f.overload == overload))
      return &f;
  return nullptr;
}

namespace {

struct Argument {
  std::string name;  // empty: by position
  Value value;
};

bool is_operand(const Value& v) { return v.is<TensorRef>() || v.is<StagedFloat>() || v.is<StagedBool>(); }

// Takes the argument of that name, else the first without one that is an operand or not, as wanted.
std::optional<Value> take(std::vector<Argument>& args, const std::string& name, bool operand) {
  for (const bool by_name : {true, false})
    for (auto it = args.begin(); it != args.end(); ++it)
      if (by_name ? it->name == name : it->name.empty() && is_operand(it->value) == operand) {
        Value v = it->value;
        args.erase(it);
        return v;
      }
  return std::nullopt;
}

}  // namespace

// A rule is an ONNX function in the operator's own namespace: formal inputs and attributes are the operator's
// parameters by name, or in order where it has no signature. Its body takes the place of the call.
std::vector<Value> Machine::apply_user_lowering(const LocalFunction& f, const std::string& full, const Schema* s,
                                                const CallArgs& given) {
  std::vector<Argument> args;
  for (size_t i = 0; i < given.positional.size(); ++i)
    args.push_back({s && i < s->params.size() ? s->params[i].name : "", given.positional[i]});
  for (const auto& [key, value] : given.keywords) args.push_back({std::string(key), value});
  const Graph& rules = options.rules->graph;
  Operands inputs(*this, true), attributes(*this, false);
  for (const ValueId formal : rules[f.body].inputs) {
    const auto v = take(args, rules[formal].name, true);
    if (!v)
      fail("use.rules",
           cat("the rule for ", full, " has an input '", rules[formal].name, "', which the operator does not have"),
           s ? cat("its signature is ", s->signature) : "");
    inputs.add(rules[formal].name, *v);
  }
  NamedAttrs bindings = f.attribute_defaults;
  const auto bind = [&](const std::string& name, bool required) {
    const auto v = take(args, name, false);
    if (!v && required)
      fail("use.rules", cat("the rule for ", full, " has an attribute '", name, "', which the operator does not have"),
           s ? cat("its signature is ", s->signature) : "");
    if (!v || v->is_none()) return;
    std::erase_if(bindings, [&](const NamedAttr& a) { return a.name == name; });
    attributes.add(name, *v);
  };
  for (const std::string& name : f.attributes) bind(name, true);
  for (const NamedAttr& a : f.attribute_defaults) bind(a.name, false);
  if (!attributes.inputs.empty())
    fail("use.rules", cat("the rule for ", full, " takes as an attribute what depends on data or on symbolic sizes"),
         "make it an input of the function");
  bindings.insert(bindings.end(), attributes.attrs.begin(), attributes.attrs.end());
  CloneOptions how;
  how.bindings = &bindings;
  how.keep_names = false;
  on.where = here();
  const Lowering named(*this, full);
  const uint32_t first = graph.node_capacity();
  const auto results = clone_body(rules, f.body, graph, inputs.inputs, on.region(), {}, how);
  for (uint32_t i = first; i < graph.node_capacity(); ++i) {
    if (graph[NodeId(i)].home == on.region()) infer_node(graph, NodeId(i));
    if (on.on_node) on.on_node(NodeId(i));
  }
  std::vector<Value> out;
  for (const ValueId v : results) {
    if (!v) fail("use.rules", cat("the rule for ", full, " gives an input that this call leaves out"));
    if (on.fact(v).has_rank())
      for (size_t axis = 0; axis < on.fact(v).shape().size(); ++axis)
        if (const Dim d = on.fact(v).shape()[axis]; !d.is_literal()) on.bind_axis(d, v, static_cast<int64_t>(axis));
    out.push_back(tensor(v));
  }
  return out;
}

namespace {
// Results of a user's lowering, of an operator that Cameo lowers too, get the types of Cameo's own results if they have
// none: nodes of foreign domains have no types.
void take_types(Machine& s, const Schema& schema, const std::vector<Value>& args, const std::vector<Value>& results) {
  const auto untyped = [&](const Value& v) {
    return v.is<TensorRef>() && s.on.fact(s.read(v.need<TensorRef>())).type.is_unknown();
  };
  const Row* row = find_row(schema.full_name());
  if (!row || std::none_of(results.begin(), results.end(), untyped)) return;
  const auto before = s.attempt();
  std::vector<Type> types;
  try {
    LoweredCall call{&schema, {}};
    for (size_t i = 0; i < args.size(); ++i) call.args.push_back(s.to_arg(args[i], schema.params[i].type));
    for (const Arg& a : lower_call(s.on, *row, std::move(call)))
      types.push_back(a.as<V>() ? s.on.fact(*a.as<V>()).type : Type());
  } catch (const Error& e) {
    if (ends_work(e)) throw;
    types.clear();
  }
  s.take_back(before);
  for (size_t i = 0; i < results.size() && i < types.size(); ++i) {
    if (!untyped(results[i])) continue;
    s.set_type(s.read(results[i].need<TensorRef>()), types[i]);
  }
}
}  // namespace

std::optional<std::vector<Value>> Machine::by_user(const std::string& full, const Schema* s, const CallArgs& args) {
  if (const LocalFunction* rule = user_lowering(full)) return apply_user_lowering(*rule, full, s, args);
  if (!options.host || !options.host->has(full)) return std::nullopt;
  on.where = here();
  const auto call = [&] {
    const Lowering named(*this, full);
    return options.host->call(*this, full, s, args);
  };
  auto results = call();
  if (s) take_types(*this, *s, args.positional, results);
  return results;
}

// The call's results as they would be lowered tell the types of the ATen node that stands for it.
std::vector<Arg> Machine::as_aten(const Schema& s, std::vector<Arg> lowered, const Before& before,
                                  const std::vector<Value>& args) {
  const bool tensors = !lowered.empty() &&
                       std::all_of(lowered.begin(), lowered.end(), [](const Arg& a) { return a.as<V>() != nullptr; });
  if (!tensors || graph.mark().nodes == before.graph.nodes) return lowered;
  std::vector<Type> types;
  for (const Arg& a : lowered) {
    if (a.as<V>()->id.index < before.graph.values) return lowered;  // an argument, unchanged
    types.push_back(graph[a.as<V>()->id].fact.type);
  }
  take_back(before.all);
  const auto results = foreign_op(s.full_name(), &s, {args, {}});
  std::vector<Arg> out;
  for (size_t i = 0; i < results.size(); ++i) {
    const V v = read(results[i].need<TensorRef>());
    if (i < types.size()) set_type(v, types[i]);
    out.emplace_back(v);
  }
  return out;
}

}  // namespace cameo::staging
