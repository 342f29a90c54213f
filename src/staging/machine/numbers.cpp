// Conversions between tensors and numbers.
#include "staging/joins/staged_list.h"
#include "staging/machine/machine.h"
#include "support/number_text.h"

namespace cameo::staging {

namespace {

// A tensor that is made a number has one element: PyTorch raises where it has more, or none.
V read_number(Machine& s, const TensorRef& t) {
  const V x = s.read(t);
  if (!s.on.fact(x).has_rank() || s.on.rank(x) == 0) return x;
  const Dim count = element_count(s.on.shape(x));
  if (s.graph.facts.surely_equal(count, Dim(1)) == Answer::no)
    s.raise(cat("a tensor of ", count.text(), " elements is made a number"));
  return x;
}

}  // namespace

Dim Machine::int_from(const Value& v) {
  if (const auto* d = v.as<Dim>()) return *d;
  if (const auto* b = v.as<bool>()) return Dim(*b);
  if (const auto* f = v.as<double>()) {
    if (!(*f >= -9.2e18 && *f <= 9.2e18)) fail("stage.number", cat("the number ", *f, " is not an int"));
    return Dim(static_cast<int64_t>(*f));
  }
  if (const auto* t = v.as<TensorRef>()) return on.int_of(read_number(*this, *t));
  if (const auto* b = v.as<StagedBool>()) return on.int_of(on.to(b->value, DType::i64));
  if (const auto* f = v.as<StagedFloat>()) return on.int_of(on.to(f->value, DType::i64));
  if (const auto* e = v.as<Enum>()) return int_from(*e->value);
  if (const auto* p = lost_in(v)) fail("stage.unavailable", *p->why);
  fail("stage.type", cat("an int is needed where ", v.kind(), " is"));
}

int64_t Machine::known_int(const Value& v) {
  const Dim d = int_from(v);
  if (!d.is_literal()) fail("stage.number", "a number must be known here, and it depends on the inputs");
  return d.literal();
}

Value Machine::float_from(const Value& v) {
  if (v.is<double>() || v.is<StagedFloat>() || v.is_none()) return v;
  if (const auto* d = v.as<Dim>())
    return d->is_literal() ? Value(static_cast<double>(d->literal()))
                           : Value(StagedFloat{on.to(on.int_scalar(*d), DType::f64)});
  if (const auto* b = v.as<bool>()) return *b ? 1.0 : 0.0;
  if (const auto* b = v.as<StagedBool>()) return Value(StagedFloat{on.to(b->value, DType::f64)});
  if (const auto* t = v.as<TensorRef>()) {
    V value = read_number(*this, *t);
    if (const Tensor* known = on.fact(value).tensor(); known && known->count() == 1) return known->double_at(0);
    if (const auto ints = on.fact(value).ints(); ints && ints->size() == 1) return float_from(Value((*ints)[0]));
    if (on.rank(value) != 0) value = on.reshape(value, {});
    return Value(StagedFloat{on.is_float(value) ? value : on.to(value, DType::f64)});
  }
  if (const auto* s = v.as<std::string>()) {
    if (const auto number = parse_double(*s)) return *number;
    fail("stage.number", "a string that is not a number is made a float");
  }
  fail("stage.type", cat("a float is needed where ", v.kind(), " is"));
}

Value Machine::bool_from(const Value& v) {
  if (v.is<bool>() || v.is<StagedBool>() || v.is<Poison>()) return v;
  if (v.is_none()) return false;
  if (const auto* d = v.as<Dim>()) return compare_ints("ne", *d, Dim(0));
  if (const auto* f = v.as<double>()) return *f != 0;
  if (const auto* f = v.as<StagedFloat>()) return Value(StagedBool{on.to(f->value, DType::boolean)});
  if (const auto* t = v.as<TensorRef>()) {
    V value = read_number(*this, *t);
    if (const Tensor* known = on.fact(value).tensor(); known && known->count() == 1) return known->double_at(0) != 0;
    if (const auto ints = on.fact(value).ints(); ints && ints->size() == 1)
      return compare_ints("ne", (*ints)[0], Dim(0));
    if (on.rank(value) != 0) value = on.reshape(value, {});
    return Value(StagedBool{on.to(value, DType::boolean)});
  }
  if (const auto* s = v.as<std::string>()) return !s->empty();
  if (const StagedList* l = staged_of(*this, v)) return compare_ints("gt", length_of(*this, StagedList(*l)), Dim(0));
  if (v.is<ListRef>()) return !items(v).empty();
  fail("stage.type", cat("a bool is needed where ", v.kind(), " is"));
}

std::optional<bool> Machine::known_bool(const Value& v) const {
  if (const auto* b = v.as<bool>()) return *b;
  if (const auto* b = v.as<StagedBool>())
    if (const Tensor* known = on.fact(b->value).tensor()) return known->int_at(0) != 0;
  return std::nullopt;
}

V Machine::bool_value(const Value& v) {
  if (const auto* b = v.as<StagedBool>()) return b->value;
  if (const auto* b = v.as<bool>()) return on.constant(Tensor::bool_scalar(*b));
  fail("stage.type", cat("a bool is needed where ", v.kind(), " is"));
}

namespace {
Answer negate(Answer a) { return a == Answer::unknown ? a : a == Answer::yes ? Answer::no : Answer::yes; }
}  // namespace

Value Machine::compare_ints(std::string_view op, Dim a, Dim b) {
  const auto& facts = graph.facts;
  Answer answer = Answer::unknown;
  if (op == "eq") answer = facts.surely_equal(a, b);
  else if (op == "ne") answer = negate(facts.surely_equal(a, b));
  else if (op == "lt") answer = facts.surely_less(a, b);
  else if (op == "ge") answer = negate(facts.surely_less(a, b));
  else if (op == "gt") answer = facts.surely_less(b, a);
  else answer = negate(facts.surely_less(b, a));
  if (answer != Answer::unknown) return answer == Answer::yes;
  const V x = on.int_scalar(a), y = on.int_scalar(b);
  const auto node = [&]() -> V {
    if (op == "eq") return on.Equal(x, y);
    if (op == "ne") return on.Not(on.Equal(x, y));
    if (op == "lt") return on.Less(x, y);
    if (op == "ge") return on.GreaterOrEqual(x, y);
    if (op == "gt") return on.Greater(x, y);
    return on.LessOrEqual(x, y);
  };
  const V out = node();
  conditions.remember(out, {op, a, b, {}, {}});
  return Value(StagedBool{out});
}

}  // namespace cameo::staging
