// Attributes, indexing, calls of what the archive defines, builtins.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "staging/joins/choice.h"
#include "staging/machine/quantized.h"
#include "staging/joins/staged_list.h"
#include "staging/machine/stager.h"

namespace cameo::staging {

namespace {
std::optional<int64_t> whole_number(std::string_view text) {
  int64_t v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  return r.ec == std::errc() && r.ptr == text.data() + text.size() ? std::optional(v) : std::nullopt;
}
}  // namespace

Value Stager::attribute(const Value& object, std::string_view wanted) {
  if (const auto* p = object.as<Poison>()) return Value(*p);
  if (const auto* c = object.as<Choice>())
    return for_each_option(*this, Choice(*c), cat("'", wanted, "'"),
                           [&](const Value& v) { return attribute(v, wanted); });
  if (const auto* ref = object.as<ObjectRef>()) {
    const auto& cell = heap.get<ObjectCell>(ref->cell);
    if (wanted == "training" && options.training) return *options.training;
    for (const auto& [key, value] : cell.attributes)
      if (key == wanted) return value;
    if (cell.cls)
      if (const auto* constant = cell.cls->constant(wanted)) return eval(*constant->value);
    fail("stage.attribute",
         cat("'", cell.cls ? cell.cls->qualified_name : "object", "' has no attribute '", wanted, "'"));
  }
  if (const auto* e = object.as<Enum>()) {
    if (wanted == "name") return std::string(e->item->name);
    if (wanted == "value") return eval(*e->item->value);
  }
  if (const auto* t = object.as<Tuple>(); t && t->named) {
    const auto fields = t->named->attributes;
    for (size_t i = 0; i < fields.size(); ++i)
      if (fields[i].name == wanted && i < t->items->size()) return (*t->items)[i];
  }
  fail("stage.attribute", cat(object.kind(), " has no attribute '", wanted, "'"));
}

ListCell& Stager::change_list(CellId id) {
  part_twins(std::exchange(heap.write<ListCell>(id).twins, {}));
  return heap.write<ListCell>(id);
}

DictCell& Stager::change_dict(CellId id) {
  part_twins(std::exchange(heap.write<DictCell>(id).twins, {}));
  return heap.write<DictCell>(id);
}

void Stager::part_twins(std::vector<CellId> twins) {
  if (twins.empty()) return;
  const auto why = std::make_shared<const std::string>(
      cat("a list or dict that a branch gave another name was changed under one of them (", here().describe(), ")"));
  for (const CellId twin : twins) {
    if (std::holds_alternative<ListCell>(heap[twin])) heap.write<ListCell>(twin).poison = why;
    else heap.write<DictCell>(twin).poison = why;
  }
}

void Stager::twin(CellId a, CellId b) {
  if (a == b) return;
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (std::holds_alternative<ListCell>(heap[one])) heap.write<ListCell>(one).twins.push_back(other);
    else heap.write<DictCell>(one).twins.push_back(other);
  }
}

Value Stager::index(const Value& object, const Value& at) {
  if (object.is<Poison>()) return object;
  if (at.is<Poison>()) return at;
  if (const auto* c = at.as<Choice>())
    return for_each_option(*this, Choice(*c), "an index", [&](const Value& v) { return index(object, v); });
  if (const auto* c = object.as<Choice>())
    return for_each_option(*this, Choice(*c), "an index", [&](const Value& v) { return index(v, at); });
  if (object.is<DictRef>()) return call_op("aten", "__getitem__", {{object, at}, {}}, pos_)[0];
  if (const auto* text = object.as<std::string>()) {
    const Dim i = int_from(at);
    const auto n = static_cast<int64_t>(text->size());
    if (!i.is_literal()) fail("stage.index", "a string is indexed with a number that depends on the inputs");
    const int64_t k = i.literal() < 0 ? i.literal() + n : i.literal();
    if (k < 0 || k >= n) raise(cat("index ", i.literal(), " is outside a string of ", n));
    return std::string(1, (*text)[static_cast<size_t>(k)]);
  }
  if (const auto* o = object.as<ObjectRef>()) {
    // A module container, indexed by number or key.
    const auto& cell = heap.get<ObjectCell>(o->cell);
    if (const auto* key = at.as<std::string>()) return attribute(object, *key);
    const Dim i = int_from(at);
    if (!i.is_literal())
      fail("stage.index", "a module is picked by a number that depends on the inputs",
           "--loops unroll makes loop counters known");
    std::vector<Value> modules;
    for (const auto& [key, value] : cell.attributes)
      if (value.is<ObjectRef>()) modules.push_back(value);
    const auto n = static_cast<int64_t>(modules.size());
    const int64_t k = i.literal() < 0 ? i.literal() + n : i.literal();
    if (k < 0 || k >= n) raise(cat("index ", i.literal(), " is outside a list of ", n, " modules"));
    return modules[static_cast<size_t>(k)];
  }
  if (const StagedList* l = staged_of(*this, object)) return element_at(*this, StagedList(*l), int_from(at));
  const auto& parts = items(object);
  const auto n = static_cast<int64_t>(parts.size());
  const Dim i = graph.facts.simplify(int_from(at));
  if (!i.is_literal()) {
    // All the same: the index does not matter.
    if (n > 0 && std::all_of(parts.begin(), parts.end(), [&](const Value& v) { return same(v, parts[0]); }))
      return parts[0];
    if (!strict())
      if (const auto l = staged_from(*this, object)) return element_at(*this, *l, i);
    fail("stage.index", "a list is indexed with a number that depends on the inputs",
         "--loops unroll makes loop counters known");
  }
  const int64_t k = i.literal() < 0 ? i.literal() + n : i.literal();
  if (k < 0 || k >= n) raise(cat("index ", i.literal(), " is outside a list of ", n));
  return parts[static_cast<size_t>(k)];
}

Value Stager::call(const ts::Call& c) {
  pos_ = c.pos;
  const auto args = [&] {
    CallArgs a;
    a.positional = eval_all(c.args);
    for (const auto& k : c.keywords) a.keywords.emplace_back(k.name, eval(*k.value));
    pos_ = c.pos;
    return a;
  };
  switch (c.callee->kind) {
    case ts::ExprKind::op: {
      const auto& op = *c.callee->as<ts::OpName>();
      auto results = call_op(op.ns, op.name, args(), c.pos);
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
      fail("stage.call", cat("'", n.name, "' is ", f.kind(), " and cannot be called"));
    }
    default: fail("stage.call", "this cannot be called");
  }
}

Value Stager::call_method(const Value& object, std::string_view method, std::vector<Value> args) {
  if (object.is<Poison>()) return object;
  const auto* ref = object.as<ObjectRef>();
  if (!ref) {
    if (method == "tolist") {
      std::vector<Value> all{object};
      auto out = call_op("prim", "tolist", {std::move(all), {}}, pos_);
      return out.empty() ? Value() : out[0];
    }
    fail("stage.call", cat(object.kind(), " has no method '", method, "'"));
  }
  const auto& cell = heap.get<ObjectCell>(ref->cell);
  if (!cell.cls && (method == "unpack" || method == "weight" || method == "bias")) {
    const Packed p = packed(*this, object);
    return method == "unpack" ? Value::tuple({p.weight, p.bias}) : method == "weight" ? p.weight : p.bias;
  }
  if (!cell.cls)
    fail("stage.native-class",
         cat("a method of a C++ class is called: ", cell.type ? cell.type->name : "?", ".", method));
  const auto* f = cell.cls->method(method);
  if (!f) fail("stage.call", cat("'", cell.cls->qualified_name, "' has no method '", method, "'"));
  args.insert(args.begin(), object);
  return call_function(*f, std::move(args));
}

Value Stager::call_global(const ts::Call& c, std::string_view dotted) {
  const ts::Resolved r = program.resolve(dotted);
  if (r.function) return call_function(*r.function, eval_all(c.args));
  if (r.cls) return construct(*r.cls, c, r.rest);
  fail("stage.name", cat("'", dotted, "' is not known in the archive"));
}

Value Stager::construct(const ts::ClassDef& cls, const ts::Call& c, std::string_view rest) {
  if (cls.kind == ts::ClassKind::named_tuple) return Value::tuple(eval_all(c.args), &cls);
  if (cls.kind == ts::ClassKind::enumeration) {
    if (c.args.empty()) fail("stage.arguments", cat(cls.qualified_name, " is called without a value"));
    const Value v = eval(*c.args[0]);
    for (const auto& item : cls.items)
      if (same(eval(*item.value), v)) return Value(Enum{&cls, &item});
    fail("stage.enum", cat("no item of ", cls.qualified_name, " has that value"));
  }
  ObjectCell cell;
  cell.cls = &cls;
  const Value object(ObjectRef{heap.add(std::move(cell))});
  if (rest.empty() && cls.method("__init__")) call_method(object, "__init__", eval_all(c.args));
  return object;
}

Value Stager::call_builtin(std::string_view builtin, const ts::Call& c) {
  auto args = eval_all(c.args);
  if (args.size() == 1 && args[0].is<Poison>()) return args[0];
  if (args.size() == 1) {
    if (builtin == "int") {
      if (const auto* s = args[0].as<std::string>()) {
        if (const auto number = whole_number(*s)) return Dim(*number);
        fail("stage.number", "a string that is not a number is made an int");
      }
      return int_from(args[0]);
    }
    if (builtin == "float") return float_from(args[0]);
    if (builtin == "bool") return bool_from(args[0]);
    if (builtin == "fork" || builtin == "awaitable") {
      const auto* closure = args[0].as<ClosureRef>();
      if (!closure) fail("stage.call", "fork needs a function");
      // The closure shares its function's locals.
      const auto result = block(closure->function->body);
      return result ? *result : Value();
    }
  }
  if (builtin == "print") return Value();
  auto out = call_op("aten", builtin, {std::move(args), {}}, c.pos);
  return out.empty() ? Value() : std::move(out[0]);
}

bool Stager::isinstance(const Value& v, const ts::Type& t) {
  using K = ts::TypeKind;
  step();
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
      if (staged_of(*this, v)) return true;
      const auto& parts = items(v);
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
        return heap.get<ObjectCell>(o->cell).cls == wanted || (wanted && wanted->kind >= ts::ClassKind::interface);
      if (const auto* tuple = v.as<Tuple>()) return tuple->named == wanted;
      if (const auto* e = v.as<Enum>()) return e->cls == wanted;
      return false;
    }
    default: return false;
  }
}

}  // namespace cameo::staging
