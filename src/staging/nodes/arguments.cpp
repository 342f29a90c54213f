// Arguments of exported nodes as staged values, and the operators on sizes and numbers.
#include <algorithm>
#include <limits>
#include <span>

#include "staging/nodes/interpreter.h"

namespace cameo::staging {

namespace {
double real(json::Value v) {
  if (!v.is_string()) return v.number();
  const auto text = v.text();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  v.fail(cat("'", text, "' is not a number"));
}

// The archive's numbers are its own; scripts and lowerings use c10's.
Dim c10_dtype(json::Value v) {
  const auto dtype = pt2::dtype_of(v.integer());
  if (!dtype) v.fail(cat("the dtype ", v.integer(), ", which Cameo does not know"));
  return Dim(static_cast<int64_t>(*dtype));
}
Dim c10_memory_format(json::Value v) {
  switch (v.integer()) {
    case 2: return Dim(2);
    case 3: return Dim(3);
    case 4: return Dim(1);
    default: return Dim(0);
  }
}
Dim c10_layout(json::Value v) {
  const int64_t n = v.integer();
  return Dim(n == 7 ? 0 : n);
}
}  // namespace

Value NodeInterpreter::argument(json::Value arg, const NodeScope& scope) {
  const auto [tag, tagged] = pt2::tagged(arg);
  const json::Value v = tagged;
  const auto list = [&](auto each) {
    std::vector<Value> parts;
    for (const json::Value part : v.elements()) parts.push_back(each(part));
    return s.list(std::move(parts));
  };
  const auto named = [&](json::Value t) { return lookup(t.is_string() ? t.text() : t["name"].text(), scope, t); };
  const auto symbolic = [&](json::Value t) -> Value {
    const auto [kind, inner] = pt2::tagged(t);
    if (kind == "as_name") return lookup(inner.text(), scope, inner);
    if (kind == "as_int") return Dim(inner.integer());
    if (kind == "as_float") return real(inner);
    if (kind == "as_bool") return inner.boolean();
    t.fail(cat("a symbolic argument of the kind ", kind));
  };
  if (tag == "as_none") return {};
  if (tag == "as_tensor") return named(v);
  if (tag == "as_tensors") return list(named);
  if (tag == "as_int") return Dim(v.integer());
  if (tag == "as_ints") return list([](json::Value x) { return Value(Dim(x.integer())); });
  if (tag == "as_float") return real(v);
  if (tag == "as_floats") return list([](json::Value x) { return Value(real(x)); });
  if (tag == "as_bool") return v.boolean();
  if (tag == "as_bools") return list([](json::Value x) { return Value(x.boolean()); });
  if (tag == "as_string" || tag == "as_operator") return std::string(v.text());
  if (tag == "as_int_lists")
    return list([&](json::Value inner) {
      std::vector<Value> parts;
      for (const json::Value x : inner.elements()) parts.push_back(Value(Dim(x.integer())));
      return s.list(std::move(parts));
    });
  if (tag == "as_lists") return list([&](json::Value inner) { return argument(inner, scope); });  // Python package only
  if (tag == "as_strings") return list([](json::Value x) { return Value(std::string(x.text())); });
  if (tag == "as_sym_int" || tag == "as_sym_float" || tag == "as_sym_bool") return symbolic(v);
  if (tag == "as_sym_ints" || tag == "as_sym_floats" || tag == "as_sym_bools") return list(symbolic);
  if (tag == "as_scalar_type") return c10_dtype(v);
  if (tag == "as_memory_format") return c10_memory_format(v);
  if (tag == "as_layout") return c10_layout(v);
  if (tag == "as_device") return Device{std::string(v["type"].text())};
  if (tag == "as_complex") return std::complex<double>(real(v["real"]), real(v["imag"]));
  const auto optional = [&](json::Value t) -> Value {
    const auto inner = pt2::tagged(t);
    return inner.tag == "as_none" ? Value() : named(inner.value);
  };
  if (tag == "as_optional_tensor") return optional(v);
  if (tag == "as_optional_tensors") return list(optional);
  if (tag == "as_nested_tensors")
    return list([&](json::Value inner) {
      std::vector<Value> parts;
      for (const json::Value t : inner.elements()) parts.push_back(named(t));
      return s.list(std::move(parts));
    });
  if (tag == "as_custom_obj")
    return poison(cat(v["name"].text(), " is an object of the class ", v["class_fqn"].text()));
  arg.fail(cat("an argument of the kind ", tag, ", which Cameo does not know"));
}

namespace {
struct ScalarRow {
  std::string_view target, op;
};
// Operators on numbers, by the name that scripts have for them.
constexpr ScalarRow scalar_rows[] = {
    {"_operator.add", "aten::add"},
    {"_operator.sub", "aten::sub"},
    {"_operator.mul", "aten::mul"},
    {"_operator.truediv", "aten::div"},
    {"_operator.floordiv", "aten::floordiv"},
    {"_operator.mod", "aten::remainder"},
    {"_operator.pow", "aten::pow.int_to_int"},
    {"_operator.neg", "aten::neg"},
    {"_operator.abs", "prim::abs"},
    {"_operator.eq", "aten::eq"},
    {"_operator.ne", "aten::ne"},
    {"_operator.lt", "aten::lt"},
    {"_operator.le", "aten::le"},
    {"_operator.gt", "aten::gt"},
    {"_operator.ge", "aten::ge"},
    {"_operator.and_", "aten::__and__"},
    {"_operator.or_", "aten::__or__"},
    {"_operator.xor", "aten::__xor__"},
    {"_operator.lshift", "aten::__lshift__"},
    {"_operator.rshift", "aten::__rshift__"},
    {"_operator.not_", "aten::__not__"},
    {"math.trunc", "aten::Int"},
    {"math.floor", "aten::floor"},
    {"math.ceil", "aten::ceil"},
    {"math.sqrt", "aten::sqrt"},
    {"math.exp", "aten::exp"},
    {"math.log", "aten::log"},
    {"math.log2", "aten::log2"},
    {"math.sin", "aten::sin"},
    {"math.cos", "aten::cos"},
    {"math.tan", "aten::tan"},
    {"math.sinh", "aten::sinh"},
    {"math.cosh", "aten::cosh"},
    {"math.tanh", "aten::tanh"},
    {"math.asin", "aten::asin"},
    {"math.acos", "aten::acos"},
    {"math.atan", "aten::atan"},
    {"math.pow", "aten::pow"},
    {"builtins.round", "aten::round"},
    {"builtins.max", "prim::max"},
    {"builtins.min", "prim::min"},
    {"builtins.abs", "prim::abs"},
    {"torch.sym_int", "aten::Int"},
    {"torch.sym_float", "aten::Float"},
    {"torch.sym_not", "aten::__not__"},
    {"torch.sym_max", "prim::max"},
    {"torch.sym_min", "prim::min"},
    {"torch._sym_sqrt", "aten::sqrt"},
    {"torch.sym_sqrt", "aten::sqrt"},
};
}  // namespace

std::optional<std::vector<Value>> NodeInterpreter::scalar_call(std::string_view target, json::Value n,
                                                               NodeScope& scope) {
  const bool choice = target == "torch.sym_ite", itself = target == "_operator.pos";
  std::string_view op;
  for (const ScalarRow& row : scalar_rows)
    if (row.target == target) op = row.op;
  if (op.empty() && !choice && !itself) return std::nullopt;
  CallArgs args;
  for (const json::Value named : n["inputs"].elements()) args.positional.push_back(argument(named["arg"], scope));
  if (itself) return args.positional;
  if (choice) {
    if (args.positional.size() != 3) n.fail("sym_ite takes three arguments");
    if (args.positional[0].is<Poison>()) return Results{args.positional[0]};  // reported where it is used
    if (const auto known = s.known_bool(args.positional[0])) return Results{args.positional[*known ? 1 : 2]};
    const auto *a = args.positional[1].as<Dim>(), *b = args.positional[2].as<Dim>();
    if (!a || !b) return s.missing_op("torch.sym_ite of floats", 1);
    return Results{
        Value(s.on.int_of(s.on.Where(s.bool_value(args.positional[0]), s.on.int_scalar(*a), s.on.int_scalar(*b))))};
  }
  if (target.starts_with("_operator.") && args.positional.size() == 2 && n["outputs"].size() == 1) {
    const auto *a = args.positional[0].as<Dim>(), *b = args.positional[1].as<Dim>();
    const auto [tag, out] = pt2::tagged(n["outputs"][size_t{0}]);
    if (a && b && tag == "as_sym_bool" && out.present("as_name"))
      scope.comparisons[out["as_name"].text()] = {target.substr(10), *a, *b};
  }
  const size_t colons = op.find("::");
  return s.call_op(op.substr(0, colons), op.substr(colons + 2), std::move(args));
}

namespace {
constexpr std::string_view dropped_calls[] = {
    "_assert_async",
    "_assert_tensor_metadata",
    "_functional_assert_async",
    "_functional_assert_scalar",
    "_functional_sym_constrain_range",
    "_functional_sym_constrain_range_for_size",
    "_print",
    "record_stream",
    "retain_grad",
    "_make_dep_token",
    "_linalg_check_errors",
};
constexpr std::string_view facts_told[] = {"_assert_scalar", "sym_constrain_range", "sym_constrain_range_for_size"};
bool is_among(std::span<const std::string_view> list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}
}  // namespace

bool NodeInterpreter::is_dropped(std::string_view op) { return is_among(dropped_calls, op); }

bool NodeInterpreter::lowers(std::string_view target) {
  for (const ScalarRow& row : scalar_rows)
    if (row.target == target) return true;
  if (target == "torch.sym_ite" || target == "_operator.pos") return true;
  if (!target.starts_with("torch.ops.")) return false;
  constexpr std::string_view higher = "torch.ops.higher_order.";
  if (target.starts_with(higher)) return takes_higher_order(target.substr(higher.size()));
  const auto named = target_of(target);
  if (!named) return false;
  const auto ns = named->ns, op = named->op;
  if (is_among(dropped_calls, op) || is_among(facts_told, op)) return true;
  const std::string name = cat(ns, "::", op.starts_with("sym_") ? op.substr(4) : op);
  if (!find_host_ops(name).empty()) return true;
  const auto row = [&](std::string_view base) {
    return find_row(named->overload == "default" ? std::string(base) : cat(base, ".", named->overload)) != nullptr;
  };
  return row(name) || (name.ends_with('_') && row(std::string_view(name).substr(0, name.size() - 1)));
}

// Assertions tell what holds: facts about sizes, and nothing in the graph.
std::optional<std::vector<Value>> NodeInterpreter::assertion(std::string_view op, const CallArgs& args, json::Value n,
                                                             NodeScope& scope) {
  if (is_among(dropped_calls, op)) return Results{};
  if (op == "_assert_scalar") {
    const auto [tag, v] = pt2::tagged(n["inputs"][size_t{0}]["arg"]);
    if (const json::Value name = v.is_object() ? v.present("as_name") : json::Value())
      if (const auto it = scope.comparisons.find(name.text()); it != scope.comparisons.end()) assume(it->second);
    return Results{};
  }
  if (op == "sym_constrain_range" || op == "sym_constrain_range_for_size") {
    std::optional<int64_t> lo, hi;
    const Dim* d = nullptr;
    for (const auto& [key, v] : args.keywords) {
      const auto* value = v.as<Dim>();
      if (!value) continue;
      if (key == "size") d = value;
      else if (key == "min") lo = value->known();
      else if (key == "max") hi = value->known();
    }
    if (d && op.ends_with("for_size") && !lo) lo = 0;
    if (d) s.graph.facts.assume_range(*d, lo, hi, {FactSource::archive, "an assertion", s.here()});
    return Results{};
  }
  return std::nullopt;
}

void NodeInterpreter::assume(const NodeScope::Comparison& c) {
  const FactOrigin said{FactSource::archive, "an assertion", s.here()};
  auto& facts = s.graph.facts;
  if (c.op == "eq") facts.assume_equal(c.a, c.b, said);
  else if (c.op == "ne") facts.assume_not_equal(c.a, c.b, said);
  else {
    // a <= b - slack; bounds of a symbol are kept best when the other side is a number.
    const bool greater = c.op.starts_with('g');
    const Dim low = greater ? c.b : c.a, high = greater ? c.a : c.b;
    const int64_t slack = c.op.ends_with('t') ? 1 : 0;
    if (low.is_literal()) facts.assume_range(high, low.literal() + slack, std::nullopt, said);
    else if (high.is_literal()) facts.assume_range(low, std::nullopt, high.literal() - slack, said);
    else facts.assume_range(high - low, slack, std::nullopt, said);
  }
}

}  // namespace cameo::staging
