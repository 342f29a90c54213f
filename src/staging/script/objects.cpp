// Attributes, indexing, calls of what the archive defines, builtins.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "staging/joins/choice.h"
#include "staging/machine/quantized.h"
#include "staging/joins/staged_list.h"
#include "staging/script/interpreter.h"

namespace cameo::staging {

namespace {
std::optional<int64_t> whole_number(std::string_view text) {
  int64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  return r.ec == std::errc() && r.ptr == text.data() + text.size() ? std::optional(v) : std::nullopt;
}
}  // namespace

Value ScriptInterpreter::attribute(const Value& object, std::string_view wanted) {
  if (const auto* p = object.as<Poison>()) return Value(*p);
  if (const auto* c = object.as<Choice>())
    return for_each_option(machine, Choice(*c), cat("'", wanted, "'"),
                           [&](const Value& v) { return attribute(v, wanted); });
  if (const auto* ref = object.as<ObjectRef>()) {
    const auto& cell = machine.heap.get<ObjectCell>(ref->cell);
    if (wanted == "training" && machine.options.training) return *machine.options.training;
    for (const auto& [key, value] : cell.attributes)
      if (key == wanted) return value;
    if (cell.cls)
      if (const auto* constant = cell.cls->constant(wanted)) return eval(*constant->value);
    machine.fail("stage.attribute",
                 cat("'", cell.cls ? cell.cls->qualified_name : "object", "' has no attribute '", wanted, "'"));
  }
  if (const auto* e = object.as<Enum>()) {
    if (wanted == "name") return std::string(e->name);
    if (wanted == "value") return *e->value;
  }
  if (const auto* t = object.as<Tuple>(); t && t->named) {
    const auto fields = t->named->attributes;
    for (size_t i = 0; i < fields.size(); ++i)
      if (fields[i].name == wanted && i < t->items->size()) return (*t->items)[i];
  }
  machine.fail("stage.attribute", cat(object.kind(), " has no attribute '", wanted, "'"));
}

Value ScriptInterpreter::index(const Value& object, const Value& at) {
  if (object.is<Poison>()) return object;
  if (at.is<Poison>()) return at;
  if (const auto* open = at.as<OpenText>(); open && !object.is<DictRef>()) return Value(Poison(open->lost));
  if (const auto* c = at.as<Choice>())
    return for_each_option(machine, Choice(*c), "an index", [&](const Value& v) { return index(object, v); });
  if (const auto* c = object.as<Choice>())
    return for_each_option(machine, Choice(*c), "an index", [&](const Value& v) { return index(v, at); });
  return object.is<ObjectRef>() ? module_at(object, at) : machine.item(object, at);
}

// A module container, indexed by number or key.
Value ScriptInterpreter::module_at(const Value& object, const Value& at) {
  const auto& cell = machine.heap.get<ObjectCell>(object.need<ObjectRef>().cell);
  if (const auto* key = at.as<std::string>()) return attribute(object, *key);
  const Dim i = machine.int_from(at);
  if (!i.is_literal())
    machine.fail("stage.index", "a module is picked by a number that depends on the inputs",
                 "--loops unroll makes loop counters known");
  std::vector<Value> modules;
  for (const auto& [key, value] : cell.attributes)
    if (value.is<ObjectRef>()) modules.push_back(value);
  const auto n = static_cast<int64_t>(modules.size());
  const int64_t k = i.literal() < 0 ? i.literal() + n : i.literal();
  if (k < 0 || k >= n) machine.raise(cat("index ", i.literal(), " is outside a list of ", n, " modules"));
  return modules[static_cast<size_t>(k)];
}

Value ScriptInterpreter::call(const ts::Call& c) {
  pos_ = c.pos;
  const auto args = [&] {
    CallArgs a;
    a.positional = eval_all(c.args);
    const Machine::ResultsWanted each(machine, 1);
    for (const auto& k : c.keywords) a.keywords.emplace_back(k.name, eval(*k.value));
    pos_ = c.pos;
    return a;
  };
  switch (c.callee->kind) {
    case ts::ExprKind::op: {
      const auto& op = *c.callee->as<ts::OpName>();
      auto results = machine.call_op(op.ns, op.name, args());
      if (results.empty()) return Value();
      return results.size() == 1 ? std::move(results[0]) : Value::tuple(std::move(results));
    }
    case ts::ExprKind::global: return call_global(c, c.callee->as<ts::GlobalName>()->name);
    case ts::ExprKind::attribute: {
      const auto& callee = *c.callee->as<ts::Attribute>();
      const Value object = eval(*callee.object);
      return call_method(object, callee.name, eval_all(c.args));
    }
    case ts::ExprKind::name: {
      const auto& n = *c.callee->as<ts::Name>();
      if (n.slot < 0) return call_builtin(n.name, c);
      const Value f = name(n);
      if (const auto* function = f.as<FunctionRef>()) return call_function(*function->function, eval_all(c.args));
      machine.fail("stage.call", cat("'", n.name, "' is ", f.kind(), " and cannot be called"));
    }
    default: machine.fail("stage.call", "this cannot be called");
  }
}

Value ScriptInterpreter::call_method(const Value& object, std::string_view method, std::vector<Value> args) {
  if (object.is<Poison>()) return object;
  const auto* ref = object.as<ObjectRef>();
  if (!ref) {
    if (method == "tolist") {
      std::vector<Value> all{object};
      auto out = machine.call_op("prim", "tolist", {std::move(all), {}});
      return out.empty() ? Value() : out[0];
    }
    machine.fail("stage.call", cat(object.kind(), " has no method '", method, "'"));
  }
  const auto& cell = machine.heap.get<ObjectCell>(ref->cell);
  if (!cell.cls && (method == "unpack" || method == "weight" || method == "bias")) {
    const Packed p = packed(machine, object);
    return method == "unpack" ? Value::tuple({p.weight, p.bias}) : method == "weight" ? p.weight : p.bias;
  }
  if (!cell.cls)
    machine.fail(
        "stage.native-class",
        cat("a method of a C++ class is called: ", cell.class_name.empty() ? "?" : cell.class_name, ".", method));
  const auto* f = cell.cls->method(method);
  if (!f) machine.fail("stage.call", cat("'", cell.cls->qualified_name, "' has no method '", method, "'"));
  args.insert(args.begin(), object);
  return call_function(*f, std::move(args));
}

Value ScriptInterpreter::call_global(const ts::Call& c, std::string_view dotted) {
  const ts::Resolved r = program.resolve(dotted);
  if (r.function) return call_function(*r.function, eval_all(c.args));
  if (r.cls) return construct(*r.cls, c, r.rest);
  machine.fail("stage.name", cat("'", dotted, "' is not known in the archive"));
}

Value ScriptInterpreter::construct(const ts::ClassDef& cls, const ts::Call& c, std::string_view rest) {
  if (cls.kind == ts::ClassKind::named_tuple) return Value::tuple(eval_all(c.args), &cls);
  if (cls.kind == ts::ClassKind::enumeration) {
    if (c.args.empty()) machine.fail("stage.arguments", cat(cls.qualified_name, " is called without a value"));
    const Value v = eval(*c.args[0]);
    for (const auto& item : cls.items)
      if (same(eval(*item.value), v)) return item_of(cls, item);
    machine.fail("stage.enum", cat("no item of ", cls.qualified_name, " has that value"));
  }
  ObjectCell cell;
  cell.cls = &cls;
  const Value object(ObjectRef{machine.heap.add(std::move(cell))});
  if (rest.empty() && cls.method("__init__")) call_method(object, "__init__", eval_all(c.args));
  return object;
}

Value ScriptInterpreter::call_builtin(std::string_view builtin, const ts::Call& c) {
  auto args = eval_all(c.args);
  if (args.size() == 1 && args[0].is<Poison>()) return args[0];
  if (args.size() == 1) {
    if (builtin == "int") {
      if (const auto* s = args[0].as<std::string>()) {
        if (const auto number = whole_number(*s)) return Dim(*number);
        machine.fail("stage.number", "a string that is not a number is made an int");
      }
      return machine.int_from(args[0]);
    }
    if (builtin == "float") return machine.float_from(args[0]);
    if (builtin == "bool") return machine.bool_from(args[0]);
    if (builtin == "fork" || builtin == "awaitable") {
      const auto* closure = args[0].as<ClosureRef>();
      if (!closure) machine.fail("stage.call", "fork needs a function");
      // The closure shares its function's locals.
      const auto result = block(closure->function->body);
      return result ? *result : Value();
    }
  }
  if (builtin == "print") return Value();
  pos_ = c.pos;
  auto out = machine.call_op("aten", builtin, {std::move(args), {}});
  return out.empty() ? Value() : std::move(out[0]);
}

bool ScriptInterpreter::isinstance(const Value& v, const ts::Type& t) {
  using K = ts::TypeKind;
  machine.step();
  if (const auto* c = v.as<Choice>()) return isinstance((*c->options)[0], t);
  switch (t.kind) {
    case K::any: return true;
    case K::none: return v.is_none();
    case K::tensor: return v.is<TensorRef>();
    case K::integer: return v.is<Dim>();
    case K::floating: return v.is<double>() || v.is<StagedFloat>();
    case K::boolean: return v.is<bool>() || v.is<StagedBool>();
    case K::string: return v.is<std::string>();
    case K::complex: return v.is<std::complex<double>>();
    case K::number: return v.is<Dim>() || v.is<double>() || v.is<StagedFloat>() || v.is<std::complex<double>>();
    case K::device: return v.is<Device>();
    case K::any_list: return v.is<ListRef>();
    case K::any_tuple: return v.is<Tuple>();
    case K::optional: return v.is_none() || isinstance(v, *t.element());
    case K::union_of:
      return std::any_of(t.args.begin(), t.args.end(), [&](const ts::Type* a) { return isinstance(v, *a); });
    case K::list: {
      if (!v.is<ListRef>()) return false;
      if (staged_of(machine, v)) return true;
      const auto& parts = machine.items(v);
      return std::all_of(parts.begin(), parts.end(), [&](const Value& p) { return isinstance(p, *t.element()); });
    }
    case K::tuple: {
      const auto* tuple = v.as<Tuple>();
      if (!tuple || tuple->items->size() != t.args.size()) return false;
      for (size_t i = 0; i < t.args.size(); ++i)
        if (!isinstance((*tuple->items)[i], *t.args[i])) return false;
      return true;
    }
    case K::dict: return v.is<DictRef>();
    case K::named: {
      const auto* wanted = program.class_of(t);
      if (const auto* o = v.as<ObjectRef>())
        return machine.heap.get<ObjectCell>(o->cell).cls == wanted ||
               (wanted && wanted->kind >= ts::ClassKind::interface);
      if (const auto* tuple = v.as<Tuple>()) return tuple->named == wanted;
      if (const auto* e = v.as<Enum>()) return e->cls == wanted;
      return false;
    }
    default: return false;
  }
}

}  // namespace cameo::staging
