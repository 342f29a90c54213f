// Higher-order operators: nested graphs inlined, or recorded as If, Loop and Scan. Bodies are handed everything they
// use and change nothing around them, so there is nothing to join but their results.
#include <algorithm>

#include "staging/nodes/interpreter.h"

namespace cameo::staging {

namespace {
// In the schemas' order of attributes: else_branch, then_branch.
constexpr size_t else_region = 0, then_region = 1;

// What these say does not change what is computed.
constexpr std::string_view opened_in_place[] = {
    "wrap_with_set_grad_enabled", "hints_wrapper",  "invoke_subgraph", "strict_mode", "wrap",
    "tag_activation_checkpoint",  "run_const_graph"};

V as_tensor(Machine& s, const Value& v) {
  if (const auto* t = v.as<TensorRef>()) return s.read(*t);
  if (const auto* d = v.as<Dim>()) return s.on.int_scalar(*d);
  if (v.is<bool>() || v.is<StagedBool>()) return s.bool_value(v);
  if (v.is<double>() || v.is<StagedFloat>()) return s.on.scalar(Num(s.to_arg(v)), DType::f64);
  s.fail("stage.control", cat("a body of a higher-order operator gives ", v.kind(), ", which ONNX cannot carry"));
}

std::vector<V> as_tensors(Machine& s, const std::vector<Value>& values) {
  std::vector<V> out;
  for (const Value& v : values) out.push_back(as_tensor(s, v));
  return out;
}

Value like(Machine& s, const Value& kind, V v) {
  if (kind.is<Dim>()) return s.on.int_of(v);
  if (kind.is<bool>() || kind.is<StagedBool>()) return Value(StagedBool{v});
  if (kind.is<double>() || kind.is<StagedFloat>()) return Value(StagedFloat{v});
  return s.tensor(v);
}

void bind_axes(Machine& s, ValueId v) {
  const Type& t = s.graph[v].fact.type;
  for (int64_t i = 0; t.has_rank() && i < t.rank(); ++i) s.on.bind_axis((*t.shape)[static_cast<size_t>(i)], v, i);
}

ValueId add_output(Machine& s, NodeId n, const Type& t) {
  const ValueId v = s.graph.add_output(n);
  s.graph.fact(v).type = t;
  bind_axes(s, v);
  return v;
}

const Poison* any_poison(const std::vector<Value>& values) {
  for (const Value& v : values)
    if (const auto* p = v.as<Poison>()) return p;
  return nullptr;
}

Type slice_type(const Machine& s, const Type& t) {
  if (!t.is_tensor() || !t.has_rank() || t.rank() == 0)
    s.fail("stage.control", "a scan over something without a first axis");
  return Type::tensor(t.elem, Shape(t.shape->begin() + 1, t.shape->end()));
}
}  // namespace

json::Value NodeInterpreter::graph_argument(const HigherOrder& h, size_t at) const {
  if (at >= h.positional.size()) h.node.fail("a higher-order operator without its graph");
  const auto [tag, v] = pt2::tagged(h.positional[at]);
  if (tag != "as_graph") h.positional[at].fail(cat("a graph is expected here, not ", tag));
  return v["graph"];
}

// What follows, lists opened; the identifier of a subgraph and the like are not operands.
std::vector<Value> NodeInterpreter::operands(const HigherOrder& h, size_t first) {
  std::vector<Value> out;
  for (size_t i = first; i < h.positional.size(); ++i) {
    const auto [tag, v] = pt2::tagged(h.positional[i]);
    if (tag == "as_string" || tag == "as_string_to_argument" || tag == "as_graph") continue;
    if (tag == "as_tensors" || tag == "as_sym_ints" || tag == "as_optional_tensors" || tag == "as_ints") {
      const auto parts = s.items(argument(h.positional[i], h.scope));
      out.insert(out.end(), parts.begin(), parts.end());
    } else out.push_back(argument(h.positional[i], h.scope));
  }
  return out;
}

std::vector<Value> NodeInterpreter::body(json::Value graph, std::vector<Value> operands) {
  NodeScope inner;
  inner.graph = graph;
  const json::Value inputs = graph["inputs"];
  size_t i = 0;
  for (const json::Value in : inputs.elements()) {
    const auto [tag, v] = pt2::tagged(in);
    Value operand = i < operands.size() ? operands[i] : Value();
    ++i;
    if (tag == "as_tensor") inner.values[v["name"].text()] = std::move(operand);
    else if (tag.starts_with("as_sym_") && v.present("as_name")) inner.values[v["as_name"].text()] = std::move(operand);
  }
  if (operands.size() < inputs.size())
    graph.fail(cat("a nested graph of ", inputs.size(), " inputs is called with ", operands.size()));
  run(inner);
  std::vector<Value> results;
  for (const json::Value out : graph["outputs"].elements()) {
    const auto [tag, v] = pt2::tagged(out);
    const Value value = argument(out, inner);
    if (tag == "as_tensors") {
      const auto parts = s.items(value);
      results.insert(results.end(), parts.begin(), parts.end());
    } else results.push_back(value);
  }
  return results;
}

bool NodeInterpreter::takes_higher_order(std::string_view op) {
  static constexpr std::string_view others[] = {"cond",
                                                "while_loop",
                                                "scan",
                                                "map_impl",
                                                "map",
                                                "print",
                                                "associative_scan",
                                                "wrap_with_autocast",
                                                "auto_functionalized",
                                                "auto_functionalized_v2",
                                                "with_effects"};
  const auto is = [&](std::string_view name) { return name == op; };
  return std::any_of(std::begin(others), std::end(others), is) ||
         std::any_of(std::begin(opened_in_place), std::end(opened_in_place), is);
}

std::vector<Value> NodeInterpreter::higher_order(std::string_view op, json::Value n, NodeScope& scope) {
  HigherOrder h{n, {}, scope};
  for (const json::Value named : n["inputs"].elements()) {
    const json::Value kind = named.present("kind");
    if (named["name"].text().empty() || (kind && kind.integer() == 1)) h.positional.push_back(named["arg"]);
  }
  if (op == "cond") return conditional(h);
  if (op == "while_loop") return while_loop(h);
  if (op == "scan") return scan(h, Scanned::carry);
  if (op == "map_impl" || op == "map") return scan(h, Scanned::map);
  if (op == "print") return {};
  if (op == "associative_scan") return scan(h, Scanned::associative);
  if (op == "wrap_with_autocast") return autocast(h);
  if (op == "auto_functionalized" || op == "auto_functionalized_v2") return functionalized(h);
  if (op == "with_effects") return with_effects(h);
  for (const auto name : opened_in_place)
    if (name == op) return inlined(h);
  return s.missing_op(cat("torch.ops.higher_order.", op), n["outputs"].size());
}

std::vector<Value> NodeInterpreter::conditional(const HigherOrder& h) {
  const Value condition = s.bool_from(argument(h.at(0), h.scope));
  const auto inputs = operands(h, 3);
  if (const auto known = s.known_bool(condition)) return body(graph_argument(h, *known ? 1 : 2), inputs);
  if (condition.is<Poison>()) return {condition};
  const RegionId outer = s.on.region();
  const NodeId node = s.graph.add_node(outer, op_of<op::If>(), nullptr, {s.bool_value(condition)}, 0);
  std::vector<Value> kinds;
  std::vector<Type> types;
  for (const size_t side : {then_region, else_region}) {
    const RegionId region = s.graph.add_region(outer);
    s.on.move_to(region);
    const auto results = body(graph_argument(h, side == then_region ? 1 : 2), inputs);
    if (const auto* p = any_poison(results)) {
      s.on.move_to(outer);
      return {Value(*p)};
    }
    const auto outs = s.own_outputs(region, as_tensors(s, results));
    s.on.move_to(outer);
    s.graph.set_region(node, side, region);
    s.graph.label(region).name = side == then_region ? "then" : "else";
    if (side == else_region && outs.size() != types.size())
      h.node.fail("the branches of a condition give different numbers of values");
    for (size_t i = 0; i < outs.size(); ++i) {
      const Type& t = s.graph[outs[i]].fact.type;
      if (side == then_region) types.push_back(t), kinds.push_back(results[i]);
      else if (i < types.size()) types[i] = join(types[i], t, s.graph.dims());
    }
    s.graph.set_region_outputs(region, outs);
  }
  std::vector<Value> out;
  for (size_t i = 0; i < types.size(); ++i) out.push_back(like(s, kinds[i], add_output(s, node, types[i])));
  if (s.on.on_node) s.on.on_node(node);
  return out;
}

// Gives the axes that a turn changes a size of their own. False where there are some: the body has to be staged again.
static bool settle(Machine& s, std::vector<Type>& types, std::span<const ValueId> after) {
  bool settled = true;
  for (size_t i = 0; i < types.size(); ++i) {
    const Type& t = s.graph[after[i]].fact.type;
    for (int64_t a = 0; t.has_rank() && types[i].has_rank() && a < t.rank() && a < types[i].rank(); ++a) {
      Dim& d = (*types[i].shape)[static_cast<size_t>(a)];
      if (d == (*t.shape)[static_cast<size_t>(a)] || is_fresh(d)) continue;
      d = s.graph.dims().fresh("carried");
      settled = false;
    }
  }
  return settled;
}

// The inputs of a Loop's body: the turn's number, the condition, and what is carried, which is given back.
static std::vector<Value> carried_inputs(Machine& s, RegionId region, const std::vector<Value>& start,
                                         const std::vector<Type>& types) {
  s.graph.add_input(region, "", Type::tensor(DType::i64, {}));
  s.graph.add_input(region, "", Type::tensor(DType::boolean, {}));
  std::vector<Value> carried;
  for (size_t i = 0; i < start.size(); ++i) {
    const ValueId in = s.graph.add_input(region, "", types[i]);
    bind_axes(s, in);
    carried.push_back(like(s, start[i], in));
  }
  return carried;
}

std::vector<Value> NodeInterpreter::while_loop(const HigherOrder& h) {
  const json::Value condition = graph_argument(h, 0), turn = graph_argument(h, 1);
  const std::vector<Value> start = s.items(argument(h.at(2), h.scope));
  const std::vector<Value> extra = h.positional.size() > 3 ? operands(h, 3) : std::vector<Value>();
  if (const auto* p = any_poison(start)) return {Value(*p)};
  const auto with_extra = [&](std::vector<Value> v) {
    v.insert(v.end(), extra.begin(), extra.end());
    return v;
  };
  const auto holds = [&](const std::vector<Value>& carried) {
    const auto results = body(condition, with_extra(carried));
    if (results.empty()) condition.fail("a loop condition without a result");
    return s.bool_from(results[0]);
  };
  const V first = as_tensor(s, holds(start));
  std::vector<V> initial;
  std::vector<Type> types;
  for (const Value& v : start) {
    initial.push_back(as_tensor(s, v));
    types.push_back(s.on.fact(initial.back()).type);
  }
  const RegionId outer = s.on.region();
  for (int pass = 0; pass < 8; ++pass) {
    const auto before = s.attempt();
    const RegionId region = s.graph.add_region(outer);
    s.on.move_to(region);
    const auto results = body(turn, with_extra(carried_inputs(s, region, start, types)));
    if (const auto* p = any_poison(results)) {
      s.on.move_to(outer);
      return {Value(*p)};
    }
    if (results.size() != start.size()) turn.fail("a loop body gives other values than it takes");
    std::vector<V> values{as_tensor(s, holds(results))};
    for (const V v : as_tensors(s, results)) values.push_back(v);
    const auto outs = s.own_outputs(region, values);
    s.on.move_to(outer);
    if (!settle(s, types, std::span(outs).subspan(1))) {
      s.take_back(before);
      continue;
    }
    std::vector<ValueId> inputs{ValueId(), first};
    inputs.insert(inputs.end(), initial.begin(), initial.end());
    const NodeId node = s.graph.add_node(outer, op_of<op::Loop>(), nullptr, std::move(inputs), 0);
    s.graph.set_region(node, 0, region);
    s.graph.label(region).name = "body";
    s.graph.set_region_outputs(region, outs);
    std::vector<Value> out;
    for (size_t i = 0; i < types.size(); ++i) out.push_back(like(s, start[i], add_output(s, node, types[i])));
    if (s.on.on_node) s.on.on_node(node);
    return out;
  }
  s.fail("stage.control", "the types of a loop's values keep changing");
}

// scan(combine, init, xs, extra), map(body, xs, extra): one turn per slice along axis 0. associative_scan(combine, xs,
// extra) carries its own result, starting with the first slice.
std::vector<Value> NodeInterpreter::scan(const HigherOrder& h, Scanned kind) {
  const json::Value turn = graph_argument(h, 0);
  const auto list_at = [&](size_t i) {
    return i < h.positional.size() ? std::vector<Value>(s.items(argument(h.positional[i], h.scope)))
                                   : std::vector<Value>();
  };
  const bool has_carry = kind == Scanned::carry;
  std::vector<Value> start = has_carry ? list_at(1) : std::vector<Value>(), xs = list_at(has_carry ? 2 : 1);
  const std::vector<Value> extra = operands(h, has_carry ? 3 : 2);
  if (const auto* p = any_poison(start)) return {Value(*p)};
  if (const auto* p = any_poison(xs)) return {Value(*p)};
  if (xs.empty()) s.fail("stage.control", "a scan over nothing");
  const auto one_turn = [&](Results given) { return body(turn, std::move(given)); };
  if (kind != Scanned::associative) return turns(one_turn, start, xs, extra, false);
  const auto aten = [&](std::string_view op, std::vector<Value> args) {
    return s.call_op("aten", op, {std::move(args), {}})[0];
  };
  std::vector<Value> firsts;
  for (Value& x : xs) {
    start.push_back(aten("select", {x, Dim(0), Dim(0)}));
    firsts.push_back(aten("slice", {x, Dim(0), Dim(0), Dim(1)}));
    x = aten("slice", {x, Dim(0), Dim(1)});
  }
  auto rest = turns(one_turn, start, xs, extra, true);
  if (any_poison(rest)) return rest;
  std::vector<Value> out;
  for (size_t i = 0; i < firsts.size(); ++i)
    out.push_back(aten("cat", {s.list({firsts[i], rest[start.size() + i]}), Dim(0)}));
  return out;
}

// `give_carried`: what the body gives is carried and given as well.
std::vector<Value> NodeInterpreter::turns(const std::function<Results(Results)>& turn, const std::vector<Value>& start,
                                          const std::vector<Value>& xs, const std::vector<Value>& extra,
                                          bool give_carried) {
  const RegionId outer = s.on.region(), region = s.graph.add_region(outer);
  std::vector<ValueId> inputs;
  std::vector<Value> operands;
  std::vector<Type> carried_types;
  for (const Value& v : start) {
    inputs.push_back(as_tensor(s, v));
    carried_types.push_back(s.graph[inputs.back()].fact.type);
    operands.push_back(s.tensor(s.graph.add_input(region, "", carried_types.back())));
  }
  for (const Value& v : xs) {
    inputs.push_back(as_tensor(s, v));
    const ValueId in = s.graph.add_input(region, "", slice_type(s, s.graph[inputs.back()].fact.type));
    bind_axes(s, in);
    operands.push_back(s.tensor(in));
  }
  const Dim turns = s.on.dim(inputs.back(), 0);
  operands.insert(operands.end(), extra.begin(), extra.end());
  s.on.move_to(region);
  auto results = turn(std::move(operands));
  if (const auto* p = any_poison(results)) {
    s.on.move_to(outer);
    return {Value(*p)};
  }
  if (give_carried && results.size() != start.size())
    s.fail("stage.control", "a combining body gives other values than it takes");
  for (size_t i = 0; give_carried && i < start.size(); ++i) results.push_back(Value(results[i]));
  if (results.size() < start.size()) s.fail("stage.control", "a scan's body gives fewer values than it carries");
  const auto outs = s.own_outputs(region, as_tensors(s, results));
  s.on.move_to(outer);
  std::vector<Type> types = carried_types;
  for (size_t i = start.size(); i < outs.size(); ++i) {
    Type t = s.graph[outs[i]].fact.type;
    if (t.has_rank()) t.shape->insert(t.shape->begin(), turns);
    types.push_back(t);
  }
  const auto attributes = std::make_shared<op::Scan>();
  attributes->num_scan_inputs = static_cast<int64_t>(xs.size());
  const NodeId node = s.graph.add_node(outer, op_of<op::Scan>(), attributes, std::move(inputs), 0);
  s.graph.set_region(node, 0, region);
  s.graph.label(region).name = "body";
  s.graph.set_region_outputs(region, outs);
  std::vector<Value> out;
  for (const Type& t : types) out.push_back(s.tensor(add_output(s, node, t)));
  if (s.on.on_node) s.on.on_node(node);
  return out;
}

}  // namespace cameo::staging
