// Expressions of the printed language.
#include <algorithm>
#include <limits>

#include "staging/joins/staged_list.h"
#include "staging/script/interpreter.h"

namespace cameo::staging {

std::vector<Value> ScriptInterpreter::eval_all(ts::Exprs list) {
  const Machine::ResultsWanted each(machine, 1);
  std::vector<Value> out;
  out.reserve(list.size());
  for (const ts::Expr* e : list) out.push_back(eval(*e));
  return out;
}

// Constants without axes are literals: they do not take part in promotion as tensors do.
Value ScriptInterpreter::constant(const ts::ConstantRef& c) {
  Value v = stored.from(program.constant(c.index));
  if (auto* t = std::get_if<TensorRef>(&v.data)) {
    const Fact& fact = machine.on.fact(machine.read(*t));
    if (fact.has_rank() && fact.rank() == 0) t->literal = true;
  }
  return v;
}

Value ScriptInterpreter::global(const ts::GlobalName& g) {
  const ts::Resolved r = program.resolve(g.name);
  if (r.function) return Value(FunctionRef{r.function});
  if (r.cls && r.cls->kind == ts::ClassKind::enumeration)
    if (const auto* item = r.cls->item(r.rest)) return item_of(*r.cls, *item);
  machine.fail("stage.name", cat("'", g.name, "' is not known in the archive"));
}

Value ScriptInterpreter::item_of(const ts::ClassDef& cls, const ts::EnumItem& item) {
  return Value(Enum{&cls, item.name, std::make_shared<const Value>(eval(*item.value))});
}

Value ScriptInterpreter::tuple_slice(const ts::Slice& s) {
  const auto all = machine.items(eval(*s.object));
  const auto n = static_cast<int64_t>(all.size());
  const auto bound = [&](const ts::Expr* at, int64_t otherwise) {
    const Dim given = at ? machine.int_from(eval(*at)) : Dim(otherwise);
    if (!given.is_literal()) machine.fail("stage.index", "a tuple is cut at a place that depends on the inputs");
    const int64_t v = given.literal();
    return std::clamp<int64_t>(v < 0 ? v + n : v, 0, n);
  };
  const int64_t first = bound(s.first, 0), last = std::max(first, bound(s.last, n));
  return Value::tuple(std::vector<Value>(all.begin() + first, all.begin() + last));
}

Value ScriptInterpreter::dict_literal(const ts::DictLiteral& d) {
  std::vector<std::pair<Value, Value>> entries;
  for (size_t i = 0; i < d.keys.size(); ++i) {
    Value key = eval(*d.keys[i]);
    entries.emplace_back(std::move(key), eval(*d.values[i]));
  }
  return machine.dict(std::move(entries));
}

Value ScriptInterpreter::eval(const ts::Expr& e) {
  switch (e.kind) {
    case ts::ExprKind::integer: return Dim(e.as<ts::IntegerLiteral>()->value);
    case ts::ExprKind::floating: return e.as<ts::FloatLiteral>()->value;
    case ts::ExprKind::complex:
      return std::complex<double>(e.as<ts::ComplexLiteral>()->real, e.as<ts::ComplexLiteral>()->imaginary);
    case ts::ExprKind::string: return std::string(e.as<ts::StringLiteral>()->value);
    case ts::ExprKind::boolean: return e.as<ts::BoolLiteral>()->value;
    case ts::ExprKind::none: return Value();
    case ts::ExprKind::name: return name(*e.as<ts::Name>());
    case ts::ExprKind::constant: return constant(*e.as<ts::ConstantRef>());
    case ts::ExprKind::global: return global(*e.as<ts::GlobalName>());
    case ts::ExprKind::op: machine.fail("stage.name", "an operator can only be called");
    case ts::ExprKind::attribute: return attribute(eval(*e.as<ts::Attribute>()->object), e.as<ts::Attribute>()->name);
    case ts::ExprKind::index: {
      const Value object = eval(*e.as<ts::Index>()->object);
      return index(object, eval(*e.as<ts::Index>()->index));
    }
    case ts::ExprKind::slice: return tuple_slice(*e.as<ts::Slice>());
    case ts::ExprKind::call: return call(*e.as<ts::Call>());
    case ts::ExprKind::tuple: return Value::tuple(eval_all(e.as<ts::TupleLiteral>()->items));
    case ts::ExprKind::list: return machine.list(eval_all(e.as<ts::ListLiteral>()->items));
    case ts::ExprKind::dict: return dict_literal(*e.as<ts::DictLiteral>());
    case ts::ExprKind::annotate: return annotated(*e.as<ts::Annotate>());
    case ts::ExprKind::unchecked_cast: {
      Value v = eval(*e.as<ts::UncheckedCast>()->value);
      const auto* m = v.as<Maybe>();
      const ts::Type* t = e.as<ts::UncheckedCast>()->target;
      return m && t && !t->is(ts::TypeKind::optional) && !t->is(ts::TypeKind::none) ? Value(*m->value) : v;
    }
    case ts::ExprKind::uninitialized: return Value(Uninitialized{});
    case ts::ExprKind::isinstance: {
      const auto& i = *e.as<ts::IsInstance>();
      const Value v = eval(*i.value);
      return std::any_of(i.types.begin(), i.types.end(), [&](const ts::Type* t) { return isinstance(v, *t); });
    }
  }
  return Value();
}

Value ScriptInterpreter::name(const ts::Name& n) {
  if (n.slot >= 0) {
    const auto& frame = machine.heap.get<FrameCell>(calls_.back().frame);
    if (!frame.assigned[static_cast<size_t>(n.slot)])
      machine.fail("stage.name", cat("'", n.name, "' is used before it has a value"));
    return machine.now(frame.locals[static_cast<size_t>(n.slot)]);
  }
  if (n.name == "inf") return std::numeric_limits<double>::infinity();
  if (n.name == "nan") return std::numeric_limits<double>::quiet_NaN();
  machine.fail("stage.name", cat("'", n.name, "' is not known"));
}

// The implicit conversions of an annotation: a 0-d tensor read as a number, an int literal as a float.
Value ScriptInterpreter::annotated(const ts::Annotate& a) {
  Value v = eval(*a.value);
  const ts::Type* t = a.target;
  while (t->is(ts::TypeKind::optional) && !v.is_none()) t = t->element();
  if (v.is<TensorRef>()) {
    if (t->is(ts::TypeKind::integer)) return machine.int_from(v);
    if (t->is(ts::TypeKind::floating)) return machine.float_from(v);
    if (t->is(ts::TypeKind::number)) {
      const V tensor = machine.read(v.need<TensorRef>());
      return machine.on.is_float(tensor) ? machine.float_from(v) : Value(machine.int_from(v));
    }
    if (t->is(ts::TypeKind::boolean)) return machine.bool_from(v);
  }
  if (const auto* l = v.as<ListRef>();
      l && t->is(ts::TypeKind::list) && !staged_of(machine, v) && machine.items(v).empty()) {
    const ts::Type& element = *t->element();
    machine.heap.write<ListCell>(l->cell).of = element.is(ts::TypeKind::integer)   ? DType::i64
                                               : element.is(ts::TypeKind::boolean) ? DType::boolean
                                                                                   : DType::undefined;
  }
  if (const auto* d = v.as<Dim>(); d && t->is(ts::TypeKind::floating) && d->is_literal())
    return static_cast<double>(d->literal());
  return v;
}

}  // namespace cameo::staging
