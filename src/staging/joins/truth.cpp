#include "staging/joins/truth.h"

#include "staging/joins/choice.h"
#include "staging/joins/open_text.h"
#include "staging/joins/staged_list.h"

namespace cameo::staging {

namespace {

const Value* poison_of(const Value& a, const Value& b) { return a.is<Poison>() ? &a : b.is<Poison>() ? &b : nullptr; }

bool is_number(const Value& v) { return is_truth(v) || v.is<Dim>() || v.is<double>() || v.is<StagedFloat>(); }

// Where one truth is `decisive`, so is the result; else the other one decides.
Value combined(Machine& s, const Value& a, const Value& b, bool decisive, std::string_view name) {
  if (const Value* p = poison_of(a, b)) return *p;
  const auto x = s.known_bool(a), y = s.known_bool(b);
  if ((x && *x == decisive) || (y && *y == decisive)) return decisive;
  if (x) return b;
  if (y) return a;
  const V v = s.bool_value(a), w = s.bool_value(b);
  if (v.id == w.id) return a;
  const V out = decisive ? V(s.on.Or(v, w)) : V(s.on.And(v, w));
  s.conditions.remember(out, {name, {}, {}, v, w});
  return Value(StagedBool{out});
}

Value equal_numbers(Machine& s, const Value& a, const Value& b) {
  if (is_truth(a) && is_truth(b)) {
    const auto x = s.known_bool(a), y = s.known_bool(b);
    if (x) return *x ? b : negated(s, b);
    if (y) return *y ? a : negated(s, a);
    return Value(StagedBool{s.on.Equal(s.bool_value(a), s.bool_value(b))});
  }
  const auto is_float = [](const Value& v) { return v.is<double>() || v.is<StagedFloat>(); };
  if (!is_float(a) && !is_float(b)) return s.compare_ints("eq", s.int_from(a), s.int_from(b));
  const Value x = s.float_from(a), y = s.float_from(b);
  if (x.is<double>() && y.is<double>()) return x.need<double>() == y.need<double>();
  const auto value = [&](const Value& v) { return s.on.scalar(Num(s.to_arg(v)), DType::f64); };
  return Value(StagedBool{s.on.Equal(value(x), value(y))});
}

// Up to the shorter one's length element by element, and the lengths.
Value equal_staged(Machine& s, const StagedList& a, const StagedList& b) {
  if (!holds_numbers(a) || !holds_numbers(b) || a.element.kind != b.element.kind)
    s.fail("stage.equal", "lists are compared whose length and elements depend on the inputs",
           "compare what they hold, stacked as tensors");
  auto& on = s.on;
  const Dim n = length_of(s, a), m = length_of(s, b), both_have = min(n, m);
  const Value lengths = s.compare_ints("eq", n, m);
  if (const auto known = s.known_bool(lengths); known && !*known) return false;
  const V x = on.slice(a.arrays[0], 0, Dim(0), both_have, 1), y = on.slice(b.arrays[0], 0, Dim(0), both_have, 1);
  const V differing = on.ReduceSum(on.to(on.Not(on.Equal(x, y)), DType::i64), {}, op::ReduceSum{.keepdims = 0});
  return both(s, lengths, Value(StagedBool{on.Equal(differing, on.int_scalar(Dim(0)))}));
}

Value equal_lists(Machine& s, const Value& a, const Value& b) {
  const StagedList *x = staged_of(s, a), *y = staged_of(s, b);
  if (x || y) {
    const auto as_staged = [&](const Value& v, const StagedList* known, const StagedList& like) {
      if (known) return StagedList(*known);
      Form f;
      f.kind = Form::Kind::staged_list;
      f.sequence = like.sequence;
      f.parts.push_back(like.element);
      return staged_as(s, v, f);
    };
    const StagedList some = x ? *x : *y;
    return equal_staged(s, as_staged(a, x, some), as_staged(b, y, some));
  }
  const auto xs = s.items(a), ys = s.items(b);
  if (xs.size() != ys.size()) return false;
  Value all = true;
  for (size_t i = 0; i < xs.size(); ++i) {
    all = both(s, all, equal(s, xs[i], ys[i]));
    if (const auto known = s.known_bool(all); known && !*known) return false;
  }
  return all;
}

Value equal_maybe(Machine& s, const Maybe& a, const Value& b) {
  const Value there(StagedBool{a.present});
  if (b.is_none()) return negated(s, there);
  const auto* other = b.as<Maybe>();
  if (!other) return both(s, there, equal(s, *a.value, b));
  const Value its(StagedBool{other->present});
  return either(s, both(s, both(s, there, its), equal(s, *a.value, *other->value)),
                both(s, negated(s, there), negated(s, its)));
}

}  // namespace

Value negated(Machine& s, const Value& truth) {
  if (truth.is<Poison>()) return truth;
  if (const auto known = s.known_bool(truth)) return !*known;
  const V of = s.bool_value(truth), out = s.on.Not(of);
  s.conditions.remember(out, {"not", {}, {}, of, {}});
  return Value(StagedBool{out});
}

Value both(Machine& s, const Value& a, const Value& b) { return combined(s, a, b, false, "and"); }
Value either(Machine& s, const Value& a, const Value& b) { return combined(s, a, b, true, "or"); }

Value equal(Machine& s, const Value& a, const Value& b) {
  const Machine::Part part_of(s);
  if (const Value* p = poison_of(a, b)) return *p;
  if (const auto* m = a.as<Maybe>()) return equal_maybe(s, *m, b);
  if (const auto* m = b.as<Maybe>()) return equal_maybe(s, *m, a);
  if (const auto* c = a.as<Choice>())
    return for_each_option(s, Choice(*c), "==", [&](const Value& v) { return equal(s, v, b); });
  if (b.is<Choice>()) return equal(s, b, a);
  if (a.is<OpenText>() || b.is<OpenText>()) return equal_text(s, a, b);
  if (is_number(a) && is_number(b)) return equal_numbers(s, a, b);
  if ((a.is<ListRef>() && b.is<ListRef>()) || (a.is<Tuple>() && b.is<Tuple>())) return equal_lists(s, a, b);
  if (a.is<TensorRef>() && b.is<TensorRef>()) {
    if (same(a, b)) return true;
    // As torch.equal: of other sizes is not equal.
    return s.call_op("aten", "equal", {{a, b}, {}})[0];
  }
  return same(a, b);
}

Value among(Machine& s, const std::vector<Value>& list, const Value& v) {
  Value found = false;
  for (const Value& item : std::vector<Value>(list)) {
    found = either(s, found, equal(s, item, v));
    if (const auto known = s.known_bool(found); known && *known) return true;
  }
  return found;
}

Value among(Machine& s, const StagedList& list, const Value& v) {
  if (!holds_numbers(list) || !is_number(v))
    s.fail("stage.equal", "whether a list, whose length and elements depend on the inputs, contains a value",
           "compare what it holds, stacked as a tensor");
  std::vector<V> wanted;
  encode(s, list.element, v, wanted);
  auto& on = s.on;
  const V hits = on.ReduceSum(on.to(on.Equal(list.arrays[0], wanted[0]), DType::i64), {}, op::ReduceSum{.keepdims = 0});
  return Value(StagedBool{on.Greater(hits, on.int_scalar(Dim(0)))});
}

}  // namespace cameo::staging
