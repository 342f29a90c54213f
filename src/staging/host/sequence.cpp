// Lists whose items the inputs decide: counting, finding, ordering, sums; tensors as lists.
#include <algorithm>

#include "lowering/forms.h"
#include "staging/host/reals.h"
#include "staging/host/tables.h"
#include "staging/joins/staged_list.h"
#include "staging/joins/truth.h"

namespace cameo::staging {

namespace {

bool on_list(const HostCall& c) { return c.size() > 0 && c[0].is<ListRef>(); }
// A list of unknown length of plain numbers, as its array.
std::optional<V> numbers_of(HostCall& c, size_t i = 0) {
  const StagedList* l = i < c.size() ? staged_of(c.s, c[i]) : nullptr;
  return l && holds_numbers(*l) ? std::optional<V>(l->arrays[0]) : std::nullopt;
}
Form number_form(DType t) {
  Form f;
  f.kind = t == DType::i64 ? Form::Kind::integer : t == DType::boolean ? Form::Kind::boolean : Form::Kind::floating;
  return f;
}
Value number_value(Machine& s, V x) {
  if (s.on.is_bool(x))
    return s.known_bool(Value(StagedBool{x})) ? Value(*s.known_bool(Value(StagedBool{x}))) : Value(StagedBool{x});
  return s.on.is_float(x) ? Value(StagedFloat{x}) : Value(s.on.int_of(x));
}
// A number as Python holds it: ints of 64 bits, floats of double precision, bools.
V as_number(Lower& on, V x) { return on.is_bool(x) ? x : on.to(x, on.is_float(x) ? DType::f64 : DType::i64); }

V encoded(HostCall& c, V like, const Value& v) {
  auto& on = c.s.on;
  return on.is_bool(like) ? c.s.bool_value(v) : on.is_float(like) ? staged(c, v) : on.int_scalar(c.s.int_from(v));
}

void become(HostCall& c, ListCell cell) { c.s.change_list(c[0].need<ListRef>().cell) = std::move(cell); }

Results count(HostCall& c) {
  if (!on_list(c) || c.size() != 2) return std::nullopt;
  auto& on = c.s.on;
  if (const auto all = numbers_of(c))
    return one(
        on.int_of(reduce(on, Reduce::sum, on.to(on.Equal(*all, encoded(c, *all, c[1])), DType::i64), {0}, false)));
  Dim total(0);
  for (const Value& v : std::vector<Value>(c.s.items(c[0]))) total = total + c.s.int_from(equal(c.s, v, c[1]));
  return one(total);
}

// Where the flags, one per item, are true first. Gather fails at run time where there is none, as Python does.
Dim first_true(HostCall& c, V flags) {
  auto& on = c.s.on;
  return on.int_of(on.gather_scalar(on.gather_scalar(on.NonZero(flags), 0, Dim(0)), 0, Dim(0)));
}
// The place of c[1] in the list c[0]; nullopt: it is certainly not there.
std::optional<Dim> place_of(HostCall& c) {
  auto& on = c.s.on;
  if (const auto all = numbers_of(c)) return first_true(c, on.Equal(*all, encoded(c, *all, c[1])));
  Vs flags;
  bool certain = true;
  int64_t i = 0;
  for (const Value& v : std::vector<Value>(c.s.items(c[0]))) {
    const Value is = equal(c.s, v, c[1]);
    const auto known = c.s.known_bool(is);
    if (certain && known && *known) return Dim(i);
    certain &= known.has_value();
    flags.push_back(on.unsqueeze(c.s.bool_value(is), {0}));
    ++i;
    if (known && *known) break;
  }
  if (certain) return std::nullopt;
  return first_true(c, on.concat(flags, 0));
}
Results not_there(HostCall& c) { c.s.raise("a value is not in the list"); }
Results index(HostCall& c) {
  if (!on_list(c) || c.size() != 2) return std::nullopt;
  const auto at = place_of(c);
  return at ? one(*at) : not_there(c);
}
Results remove(HostCall& c) {
  if (!on_list(c) || c.size() != 2) return std::nullopt;
  const auto at = place_of(c);
  if (!at) return not_there(c);
  if (const StagedList* l = staged_of(c.s, c[0])) {
    become(c, ListCell{{}, std::make_shared<const StagedList>(without_element(c.s, StagedList(*l), *at)), {}});
    return std::vector<Value>{};
  }
  auto items = c.s.items(c[0]);
  if (at->is_literal()) items.erase(items.begin() + at->literal());
  else {
    const auto all = staged_from(c.s, c[0]);
    if (!all)
      c.s.fail("stage.list",
               "an item at an index that depends on the inputs is removed from a list that is not a list of numbers");
    const StagedList left = without_element(c.s, *all, *at);
    items.pop_back();  // one less, whichever it is
    for (size_t i = 0; i < items.size(); ++i) items[i] = element_at(c.s, left, Dim(static_cast<int64_t>(i)));
  }
  become(c, ListCell{std::move(items), {}, {}});
  return std::vector<Value>{};
}

bool is_tuple_of_numbers(const Form& f);
V sorted_array(Lower& on, V x, bool down) {
  const bool flags = on.is_bool(x);
  if (flags) x = on.to(x, DType::i64);
  const V values = on.TopK(x, on.int_vector(Dims{on.dim(x, 0)}), 2, {.axis = 0, .largest = down, .sorted = 1})[0];
  return flags ? on.to(values, DType::boolean) : values;
}
bool is_number_or_known(const Form& f) {
  return f.is(Form::Kind::integer) || f.is(Form::Kind::floating) || f.is(Form::Kind::boolean) ||
         f.is(Form::Kind::fixed) || is_tuple_of_numbers(f);
}
bool is_tuple_of_numbers(const Form& f) {
  return f.is(Form::Kind::tuple) && std::all_of(f.parts.begin(), f.parts.end(), is_number_or_known);
}
// Tuples have an array for each part: they are sorted by the last part, then, keeping that order, by those before it.
StagedList sorted_tuples(Lower& on, StagedList l, bool down) {
  for (size_t key = l.arrays.size(); key-- > 0;) {
    const V x = on.is_bool(l.arrays[key]) ? on.to(l.arrays[key], DType::i64) : l.arrays[key];
    const V order = on.TopK(x, on.int_vector(Dims{on.dim(x, 0)}), 2, {.axis = 0, .largest = down, .sorted = 1})[1];
    for (V& part : l.arrays) part = on.Gather(part, order, {.axis = 0});
  }
  return l;
}
std::optional<Value> ordered_tuples(HostCall& c, bool down) {
  const auto is_ready = [](const StagedList& l) { return !l.sequence && is_tuple_of_numbers(l.element); };
  if (const StagedList* l = staged_of(c.s, c[0]); l && is_ready(*l))
    return make_staged(c.s, sorted_tuples(c.s.on, StagedList(*l), down));
  const auto items = c.s.items(c[0]);
  if (items.empty() || !std::all_of(items.begin(), items.end(), [](const Value& v) { return v.is<Tuple>(); }))
    return std::nullopt;
  const auto all = staged_from(c.s, c[0]);
  if (!all || !is_ready(*all) || all->arrays.empty()) return std::nullopt;
  const StagedList in_order = sorted_tuples(c.s.on, *all, down);
  std::vector<Value> out;
  for (size_t i = 0; i < items.size(); ++i) out.push_back(element_at(c.s, in_order, Dim(static_cast<int64_t>(i))));
  return c.s.list(std::move(out));
}
bool is_plain_number(const Value& v) {
  return v.is<Dim>() || v.is<double>() || v.is<bool>() || v.is<StagedFloat>() || v.is<StagedBool>();
}
bool is_known(const Value& v) { return is_known_real(v); }

// Numbers that the inputs decide, and lists of unknown length; known ones are known_sort's.
std::optional<Value> ordered(HostCall& c, bool down) {
  if (!on_list(c)) return std::nullopt;
  if (const auto all = numbers_of(c)) {
    const DType t = c.s.on.dtype(*all);
    return make_staged(c.s, StagedList{number_form(t), false, {sorted_array(c.s.on, *all, down)}});
  }
  if (auto tuples = ordered_tuples(c, down)) return tuples;
  const auto items = c.s.items(c[0]);
  if (items.empty() || !std::all_of(items.begin(), items.end(), is_plain_number) ||
      std::all_of(items.begin(), items.end(), is_known))
    return std::nullopt;
  const auto all = staged_from(c.s, c[0]);
  if (!all || all->sequence || all->arrays.size() != 1) return std::nullopt;
  const V in_order = sorted_array(c.s.on, all->arrays[0], down);
  std::vector<Value> out;
  for (size_t i = 0; i < items.size(); ++i)
    out.push_back(number_value(c.s, c.s.on.gather_scalar(in_order, 0, Dim(static_cast<int64_t>(i)))));
  return c.s.list(std::move(out));
}
bool is_down(const HostCall& c) {
  const Value* v = c.size() > 1 ? &c[1] : c.keyword("reverse");
  return v && v->is<bool>() && v->need<bool>();
}
Results sorted(HostCall& c) {
  auto out = ordered(c, is_down(c));
  return out ? one(std::move(*out)) : std::nullopt;
}
Results sort(HostCall& c) {
  const auto out = ordered(c, is_down(c));
  if (!out) return std::nullopt;
  become(c, ListCell(c.s.heap.get<ListCell>(out->need<ListRef>().cell)));
  return std::vector<Value>{};
}

Results sum(HostCall& c) {
  if (!on_list(c)) return std::nullopt;
  auto& on = c.s.on;
  if (const auto all = numbers_of(c))
    return one(
        number_value(c.s, reduce(on, Reduce::sum, on.is_bool(*all) ? on.to(*all, DType::i64) : *all, {0}, false)));
  Value total = Dim(0);
  for (const Value& v : std::vector<Value>(c.s.items(c[0]))) {
    if (!v.is_number()) return std::nullopt;
    total = c.s.call_op("aten", "add", {{total, v.is<StagedBool>() ? Value(c.s.int_from(v)) : v}, {}})[0];
  }
  return one(total);
}
template <bool All>
Results quantifier(HostCall& c) {
  if (!on_list(c)) return std::nullopt;
  auto& on = c.s.on;
  if (const auto all = numbers_of(c)) {
    const V flags = on.to(*all, DType::boolean);
    return one(Value(StagedBool{All ? V(on.Not(flags_any(on, on.Not(flags), 0))) : flags_any(on, flags, 0)}));
  }
  Value total = All;
  for (const Value& v : std::vector<Value>(c.s.items(c[0])))
    total = All ? both(c.s, total, c.s.bool_from(v)) : either(c.s, total, c.s.bool_from(v));
  return one(total);
}

// A small tensor is a list of its items; a longer one, and one of unknown size, a list of unknown length.
Value listed(HostCall& c, V x) {
  auto& on = c.s.on;
  if (on.rank(x) == 0) {
    const Value t = c.s.tensor(x);
    return on.is_bool(x) ? c.s.bool_from(t) : on.is_float(x) ? c.s.float_from(t) : Value(c.s.int_from(t));
  }
  constexpr int64_t most = 64;
  const auto n = on.known_dim(x, 0);
  if (!n || *n > most) {
    if (on.rank(x) != 1)
      c.s.fail("stage.tolist",
               "tolist() of a tensor of several axes, of which the first has an unknown or a large size",
               "index the tensor, or use unbind()");
    const V all = as_number(on, x);
    return make_staged(c.s, StagedList{number_form(on.dtype(all)), false, {all}});
  }
  std::vector<Value> rows;
  for (int64_t i = 0; i < *n; ++i) rows.push_back(listed(c, on.gather_scalar(x, 0, Dim(i))));
  return c.s.list(std::move(rows));
}
Results to_list(HostCall& c) {
  if (c.size() == 0 || !c[0].is<TensorRef>()) return std::nullopt;
  const V x = c.s.read(c[0].need<TensorRef>());
  if (c.s.on.fact(x).ints() || c.s.on.fact(x).tensor()) return std::nullopt;
  return one(listed(c, x));
}

constexpr HostRow table[] = {
    {"aten::count", count},
    {"aten::index", index},
    {"aten::remove", remove},
    {"aten::sorted", sorted},
    {"aten::sort", sort},
    {"aten::sum", sum},
    {"aten::all", quantifier<true>},
    {"aten::any", quantifier<false>},
    {"prim::tolist", to_list},
};

}  // namespace

std::span<const HostRow> host_sequence_rows() { return table; }

}  // namespace cameo::staging
