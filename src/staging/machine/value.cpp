#include "staging/machine/value.h"

#include <algorithm>

#include "support/budget.h"

namespace cameo::staging {

std::string Value::kind() const {
  static constexpr std::string_view names[] = {"None",
                                               "bool",
                                               "int",
                                               "float",
                                               "complex",
                                               "str",
                                               "Tensor",
                                               "float from data",
                                               "bool from data",
                                               "List",
                                               "Dict",
                                               "Tuple",
                                               "object",
                                               "function",
                                               "closure",
                                               "Device",
                                               "Enum",
                                               "uninitialized",
                                               "unavailable value",
                                               "Optional from data",
                                               "str from data",
                                               "str from data"};
  return std::string(names[data.index()]);
}

const Poison* lost_in(const Value& v) {
  const auto* open = v.as<OpenText>();
  return open ? &open->lost : v.as<Poison>();
}
Value poison(std::string why) { return Value(Poison{std::make_shared<const std::string>(std::move(why)), false}); }

void Value::wrong_kind(const std::string& wanted) const {
  throw error("stage.type", cat(wanted, " is needed where ", kind(), " is"));
}

// What holds another value by a pointer is destroyed by recursion, so its depth is bounded here; lists are cells.
Value Value::tuple(std::vector<Value> items, const ts::ClassDef* named) {
  size_t depth = 1;
  for (const Value& item : items)
    if (const auto* t = item.as<Tuple>()) depth = std::max(depth, t->depth + 1);
  check_value_depth(depth);
  return Value(Tuple{std::make_shared<const std::vector<Value>>(std::move(items)), named, depth});
}

void check_value_depth(size_t depth) {
  constexpr size_t most = 200;
  if (depth > most) throw over_budget("depth", cat("a value is nested more than ", most, " deep"), "");
}

namespace {
bool same_within(const Value& a, const Value& b, size_t& visits) {
  constexpr size_t most = 1'000'000;
  if (++visits > most) throw over_budget("steps", cat("two values are compared in more than ", most, " parts"), "");
  if (a.data.index() != b.data.index()) return false;
  if (const auto* x = a.as<bool>()) return *x == *b.as<bool>();
  if (const auto* x = a.as<Dim>()) return *x == *b.as<Dim>();
  if (const auto* x = a.as<double>()) return *x == *b.as<double>() || (*x != *x && *b.as<double>() != *b.as<double>());
  if (const auto* x = a.as<std::complex<double>>()) return *x == *b.as<std::complex<double>>();
  if (const auto* x = a.as<std::string>()) return *x == *b.as<std::string>();
  if (const auto* x = a.as<TensorRef>())
    return x->cell == b.as<TensorRef>()->cell && x->view == b.as<TensorRef>()->view;
  if (const auto* x = a.as<StagedFloat>()) return x->value.id == b.as<StagedFloat>()->value.id;
  if (const auto* x = a.as<StagedBool>()) return x->value.id == b.as<StagedBool>()->value.id;
  if (const auto* x = a.as<ListRef>()) return x->cell == b.as<ListRef>()->cell;
  if (const auto* x = a.as<DictRef>()) return x->cell == b.as<DictRef>()->cell;
  if (const auto* x = a.as<ObjectRef>()) return x->cell == b.as<ObjectRef>()->cell;
  if (const auto* x = a.as<FunctionRef>()) return x->function == b.as<FunctionRef>()->function;
  if (const auto* x = a.as<ClosureRef>()) return x->function == b.as<ClosureRef>()->function;
  if (const auto* x = a.as<Device>()) return x->name == b.as<Device>()->name;
  if (const auto* x = a.as<Enum>()) return x->cls == b.as<Enum>()->cls && x->name == b.as<Enum>()->name;
  if (const auto* x = a.as<Tuple>()) {
    if (x->items == b.as<Tuple>()->items) return true;
    const auto& xs = *x->items;
    const auto& ys = *b.as<Tuple>()->items;
    if (xs.size() != ys.size()) return false;
    for (size_t i = 0; i < xs.size(); ++i)
      if (!same_within(xs[i], ys[i], visits)) return false;
    return true;
  }
  if (const auto* x = a.as<Maybe>())
    return x->present.id == b.as<Maybe>()->present.id && same_within(*x->value, *b.as<Maybe>()->value, visits);
  if (const auto* x = a.as<OpenText>()) {
    const auto &xs = *x->parts, &ys = *b.as<OpenText>()->parts;
    return xs.size() == ys.size() && std::equal(xs.begin(), xs.end(), ys.begin(), [&](const Value& p, const Value& q) {
             return same_within(p, q, visits);
           });
  }
  if (const auto* x = a.as<Choice>()) {
    const auto &xs = *x->options, &ys = *b.as<Choice>()->options;
    if (x->index.id != b.as<Choice>()->index.id || xs.size() != ys.size()) return false;
    for (size_t i = 0; i < xs.size(); ++i)
      if (!same_within(xs[i], ys[i], visits)) return false;
    return true;
  }
  return a.is_none() || a.is<Uninitialized>();
}
}  // namespace

bool same(const Value& a, const Value& b) {
  size_t visits = 0;
  return same_within(a, b, visits);
}

std::optional<CellId> container_of(const Value& v) {
  if (const auto* l = v.as<ListRef>()) return l->cell;
  const auto* d = v.as<DictRef>();
  return d ? std::optional(d->cell) : std::nullopt;
}

}  // namespace cameo::staging
