#include "staging/joins/form.h"

#include <algorithm>

#include "lowering/complex.h"

#include "kernels/carrier.h"
#include "staging/joins/choice.h"
#include "staging/joins/staged_list.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

namespace {

using Kind = Form::Kind;

Form of_kind(Kind k, Value v = {}) {
  Form f;
  f.kind = k;
  f.value = std::move(v);
  return f;
}
Form fixed(Value v) { return of_kind(Kind::fixed, std::move(v)); }
Form poisoned(std::string why) { return of_kind(Kind::poison, poison(std::move(why))); }

// A known number as one that may be any; in tuples and lists too.
Form general(const Form& f) {
  if (f.is(Kind::tuple) || f.is(Kind::list)) {
    Form all = f;
    for (Form& part : all.parts) part = general(part);
    return all;
  }
  if (!f.is(Kind::fixed)) return f;
  if (f.value.is<Dim>()) return of_kind(Kind::integer);
  if (f.value.is<bool>()) return of_kind(Kind::boolean);
  if (f.value.is<double>()) return of_kind(Kind::floating);
  return f;
}

bool has_value(const Form& f) { return !f.is(Kind::unset) && !f.value.is_none(); }
bool is_none(const Form& f) { return f.is(Kind::fixed) && f.value.is_none(); }

Form maybe(Form inner) {
  Form f = of_kind(Kind::maybe);
  f.parts.push_back(std::move(inner));
  return f;
}

Form join_tensors(Machine& s, const Form& a, const Form& b) {
  if (a.type.elem != b.type.elem)
    return poisoned(cat("a tensor is ", a.type.text(), " on one way and ", b.type.text(), " on another (",
                        s.here().describe(), ")"));
  Form f = of_kind(Kind::tensor);
  Type other = b.type;
  if (a.type.has_rank() && other.has_rank() && a.type.rank() == other.rank())
    for (size_t i = 0; i < other.shape->size(); ++i)
      if (Dim& d = (*other.shape)[i]; s.on.provably(d, (*a.type.shape)[i])) d = (*a.type.shape)[i];
  f.type = ir::join(a.type, other, s.graph.dims());
  if (a.layout == b.layout) f.layout = a.layout;
  return f;
}

bool among_known(const Form& f) { return f.is(Kind::choice) || (f.is(Kind::fixed) && may_be_chosen(f.value)); }
std::vector<Value> options_of(const Form& f) { return f.is(Kind::choice) ? f.keys : std::vector<Value>{f.value}; }

// Strings or enums that differ: one of them. Those that a loop makes longer and longer have no end.
Form join_options(Machine& s, const Form& a, const Form& b) {
  Form f = of_kind(Kind::choice);
  f.keys = options_of(a);
  for (const Value& v : options_of(b))
    if (std::none_of(f.keys.begin(), f.keys.end(), [&](const Value& o) { return same(o, v); })) f.keys.push_back(v);
  constexpr size_t most = 64;
  if (f.keys.size() <= most) return f;
  return poisoned(
      cat("a string is one of more than ", most, ", which depends on the inputs (", s.here().describe(), ")"));
}
bool has_choice(const Form& f) { return f.is(Kind::choice) || std::any_of(f.parts.begin(), f.parts.end(), has_choice); }

// Lists of different lengths: one whose length is not known.
Form join_lengths(Machine& s, const Form& a, const Form& b) {
  Form f = of_kind(Kind::staged_list);
  Form element = of_kind(Kind::unset);
  const auto add_memory = [&](CellId cell) {
    if (std::find(f.memory.begin(), f.memory.end(), cell) == f.memory.end()) f.memory.push_back(cell);
  };
  for (const Form* side : {&a, &b}) {
    f.sequence |= side->sequence;
    for (const CellId cell : side->memory) add_memory(cell);
    for (const Form& part : side->parts) {
      for (const auto& source : s.memory_of(part.value)) add_memory(source.cell);
      const Form wide = general(part);
      const Form next = join(s, element, wide);
      f.sequence |= !element.is(Kind::unset) && !same_form(next, without_values(element));
      element = without_values(next);
    }
  }
  if (element.is(Kind::unset)) return element;
  if (element.is(Kind::poison)) return element;
  if (has_choice(element)) return poisoned(cat("a list of unknown length holds strings (", s.here().describe(), ")"));
  if (graph_types(element).empty())
    return poisoned(
        cat("a list of unknown length has an element that is not a number or tensor (", s.here().describe(), ")"));
  for (const Type& t : graph_types(element))
    if (!t.is_tensor() || !t.has_rank())
      return poisoned(cat("a list of unknown length holds lists of unknown length (", s.here().describe(), ")"));
  f.parts.push_back(std::move(element));
  return f;
}

Form join_parts(Machine& s, const Form& a, const Form& b) {
  Form f = of_kind(a.kind);
  f.named = a.named;
  f.keys = a.keys;
  for (size_t i = 0; i < a.parts.size(); ++i) f.parts.push_back(join(s, a.parts[i], b.parts[i]));
  return f;
}

bool same_keys(const Form& a, const Form& b) {
  if (a.keys.size() != b.keys.size()) return false;
  for (size_t i = 0; i < a.keys.size(); ++i)
    if (!same(a.keys[i], b.keys[i])) return false;
  return true;
}

Form list_form(Machine& s, const ListCell& cell) {
  Form f = of_kind(cell.staged ? Kind::staged_list : Kind::list);
  if (cell.staged) {
    f.parts.push_back(cell.staged->element);
    f.sequence = cell.staged->sequence;
    for (const auto& source : cell.staged->sources) f.memory.push_back(source.cell);
  } else {
    const std::vector<Value> items = cell.items;
    for (const Value& v : items) f.parts.push_back(form_of(s, v));
  }
  return f;
}

V placeholder(Machine& s, const Type& t) {
  if (t.is_sequence()) return s.on.SequenceEmpty(op::SequenceEmpty{.dtype = static_cast<int64_t>(t.inner->elem)});
  if (!t.has_rank() || t.elem == DType::undefined)
    s.fail("stage.join", "a value that is missing on one path has an unknown type on the other",
           "operators without a lowering give such values");
  // Never looked at, but of the right type, and of the right size if that can be expressed.
  Dims sizes;
  bool known = true;
  for (const Dim d : *t.shape) {
    sizes.push_back(s.on.available(d) ? d : Dim(0));
    known &= sizes.back().is_literal();
  }
  if (!known) return s.on.full(sizes, Num(0.0), t.elem);
  std::vector<int64_t> shape;
  for (const Dim d : sizes) shape.push_back(d.literal());
  return element_count(shape) <= 64 ? V(s.on.constant(zeros(t.elem, shape))) : s.on.full(sizes, Num(0.0), t.elem);
}

}  // namespace

Form form_of(Machine& s, const Value& given) {
  const Machine::Part part_of(s);
  const Value v = s.now(given);
  if (v.is<Uninitialized>()) return {};
  if (const auto* p = lost_in(v)) return of_kind(Kind::poison, Value(Poison(*p)));
  if (const auto* t = v.as<TensorRef>()) {
    if (const Doubt* d = s.doubt_about(t->cell)) return poisoned(d->why);
    Form f = of_kind(Kind::tensor, v);
    f.type = s.on.fact(s.read(*t)).type;
    f.layout = s.layout_of(*t);
    f.layout.offset = Dim(0);
    return f;
  }
  if (const auto* c = v.as<Choice>()) {
    Form f = of_kind(Kind::choice, v);
    f.keys = *c->options;
    return f;
  }
  if (v.is<StagedFloat>()) return of_kind(Kind::floating, v);
  if (v.is<StagedBool>()) return of_kind(Kind::boolean, v);
  if (const auto* m = v.as<Maybe>()) {
    Form f = maybe(form_of(s, *m->value));
    f.value = v;
    return f;
  }
  if (const auto* t = v.as<Tuple>()) {
    Form f = of_kind(Kind::tuple, v);
    f.named = t->named;
    for (const Value& part : *t->items) f.parts.push_back(form_of(s, part));
    return f;
  }
  if (const auto* l = v.as<ListRef>()) {
    Form f = list_form(s, ListCell(s.heap.get<ListCell>(l->cell)));
    f.value = v;
    return f;
  }
  if (const auto* d = v.as<DictRef>()) {
    const DictCell cell = s.heap.get<DictCell>(d->cell);
    if (cell.poison) return poisoned(*cell.poison);
    Form f = of_kind(Kind::dict, v);
    for (const auto& [key, value] : cell.entries) {
      f.keys.push_back(key);
      f.parts.push_back(form_of(s, value));
    }
    return f;
  }
  return fixed(v);
}

Form join(Machine& s, const Form& a, const Form& b) {
  if (a.is(Kind::unset)) return b;
  if (b.is(Kind::unset)) return a;
  if (a.is(Kind::poison)) return a;
  if (b.is(Kind::poison)) return b;
  if (has_value(a) && has_value(b) && same(a.value, b.value)) return fixed(a.value);
  if (is_none(a) && is_none(b)) return a;
  if (is_none(a)) return b.is(Kind::maybe) ? b : maybe(b);
  if (is_none(b)) return a.is(Kind::maybe) ? a : maybe(a);
  if (a.is(Kind::maybe) || b.is(Kind::maybe))
    return maybe(join(s, a.is(Kind::maybe) ? a.parts[0] : a, b.is(Kind::maybe) ? b.parts[0] : b));
  if (among_known(a) && among_known(b)) return join_options(s, a, b);
  const Form x = general(a), y = general(b);
  if (x.is(Kind::tensor) && y.is(Kind::tensor)) return join_tensors(s, x, y);
  const bool lists = (x.is(Kind::list) || x.is(Kind::staged_list)) && (y.is(Kind::list) || y.is(Kind::staged_list));
  if (lists && (!x.is(Kind::list) || !y.is(Kind::list) || x.parts.size() != y.parts.size()))
    return join_lengths(s, x, y);
  if (x.kind == y.kind) {
    if (x.is(Kind::integer) || x.is(Kind::floating) || x.is(Kind::boolean)) return of_kind(x.kind);
    if (x.is(Kind::tuple) && x.parts.size() == y.parts.size()) return join_parts(s, x, y);
    if (x.is(Kind::list)) return join_parts(s, x, y);
    if (x.is(Kind::dict) && same_keys(x, y)) return join_parts(s, x, y);
  }
  const auto named = [](const Form& f) { return f.value.is_none() ? std::string("another value") : f.value.kind(); };
  return poisoned(x.is(Kind::dict)
                      ? cat("a dict gets different keys on paths that depend on the inputs (", s.here().describe(), ")")
                      : cat("a value is ", named(x), " on one way and ",
                            x.kind == y.kind ? "a different one" : named(y), " on another, and the inputs decide (",
                            s.here().describe(), ")"));
}

bool same_form(const Form& a, const Form& b) {
  if (a.kind != b.kind || a.sequence != b.sequence || a.parts.size() != b.parts.size()) return false;
  if (a.is(Kind::fixed) && !same(a.value, b.value)) return false;
  if (a.is(Kind::tensor) && !(a.type == b.type)) return false;
  if (a.is(Kind::choice) && !same_keys(a, b)) return false;
  if (!std::is_permutation(a.memory.begin(), a.memory.end(), b.memory.begin(), b.memory.end())) return false;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (!same_form(a.parts[i], b.parts[i])) return false;
  return true;
}

bool same_layouts(const Form& a, const Form& b) {
  if (!(a.layout == b.layout) || a.parts.size() != b.parts.size()) return false;
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), same_layouts);
}

Form without_values(Form f) {
  if (!f.is(Kind::fixed) && !f.is(Kind::poison)) f.value = Value();
  for (Form& part : f.parts) part = without_values(std::move(part));
  return f;
}

namespace {
// How a complex tensor crosses a border: real and imaginary parts along a new last axis.
Type pair_type(Type t) {
  t.elem = real_type(t.elem);
  if (t.shape) t.shape->push_back(Dim(2));
  return t;
}
}  // namespace

std::vector<Type> graph_types(const Form& f, DimContext* dims) {
  const auto all = [&] {
    std::vector<Type> out;
    for (const Form& part : f.parts)
      for (Type& t : graph_types(part, dims)) out.push_back(std::move(t));
    return out;
  };
  switch (f.kind) {
    case Kind::unset:
    case Kind::fixed:
    case Kind::poison: return {};
    case Kind::tensor: return {is_complex(f.type.elem) ? pair_type(f.type) : f.type};
    case Kind::integer:
    case Kind::choice: return {Type::tensor(DType::i64, {})};
    case Kind::floating: return {Type::tensor(DType::f64, {})};
    case Kind::boolean: return {Type::tensor(DType::boolean, {})};
    case Kind::maybe: {
      auto out = all();
      out.insert(out.begin(), Type::tensor(DType::boolean, {}));
      return out;
    }
    case Kind::tuple:
    case Kind::list:
    case Kind::dict: return all();
    case Kind::staged_list: {
      auto out = all();
      const Dim length = dims && !f.sequence ? dims->fresh("length") : Dim(0);
      for (Type& t : out) {
        if (f.sequence) t = Type::sequence(t);
        else t.shape->insert(t.shape->begin(), length);
      }
      return out;
    }
  }
  return {};
}

void encode(Machine& s, const Form& f, const Value& v, std::vector<V>& out) {
  if (v.is<Uninitialized>() || (v.is_none() && !f.is(Kind::maybe))) {
    for (const Type& t : graph_types(f)) out.push_back(placeholder(s, t));
    return;
  }
  switch (f.kind) {
    case Kind::unset:
    case Kind::fixed:
    case Kind::poison: return;
    case Kind::tensor: {
      const V x = s.read(s.now(v.need<TensorRef>()));
      out.push_back(is_complex(s.on.dtype(x)) ? pair_of(s.on, x) : x);
      return;
    }
    case Kind::integer: out.push_back(s.on.int_scalar(s.int_from(v))); return;
    case Kind::floating: out.push_back(s.on.scalar(Num(s.to_arg(v)), DType::f64)); return;
    case Kind::boolean: out.push_back(s.bool_value(v)); return;
    case Kind::choice: out.push_back(choice_index(s, v, f.keys)); return;
    case Kind::maybe: {
      const auto* m = v.as<Maybe>();
      out.push_back(m ? m->present : s.bool_value(Value(!v.is_none())));
      encode(s, f.parts[0], m ? *m->value : v.is_none() ? Value(Uninitialized{}) : v, out);
      return;
    }
    case Kind::tuple:
    case Kind::list: {
      const auto items = s.items(v);
      if (items.size() != f.parts.size())
        s.fail("stage.join", "a list or tuple has another length than where it is joined");
      for (size_t i = 0; i < items.size(); ++i) encode(s, f.parts[i], items[i], out);
      return;
    }
    case Kind::dict: {
      const auto entries = s.heap.get<DictCell>(v.need<DictRef>().cell).entries;
      if (entries.size() != f.parts.size()) s.fail("stage.join", "a dict has other keys than where it is joined");
      for (size_t i = 0; i < entries.size(); ++i) encode(s, f.parts[i], entries[i].second, out);
      return;
    }
    case Kind::staged_list: {
      const StagedList l = staged_as(s, v, f);
      out.insert(out.end(), l.arrays.begin(), l.arrays.end());
      return;
    }
  }
}

Value decode(Machine& s, const Form& f, std::span<const V>& in) {
  const auto next = [&] {
    invariant(!in.empty(), "a form is given all its graph values");
    const V v = in.front();
    in = in.subspan(1);
    return v;
  };
  const auto parts = [&] {
    std::vector<Value> out;
    for (const Form& part : f.parts) out.push_back(decode(s, part, in));
    return out;
  };
  switch (f.kind) {
    case Kind::unset: return Value(Uninitialized{});
    case Kind::fixed:
    case Kind::poison: return f.value;
    case Kind::tensor: return s.tensor(is_complex(f.type.elem) ? complex_of_pair(s.on, next()) : next(), "", f.layout);
    case Kind::integer: return s.on.int_of(next());
    case Kind::floating: return Value(StagedFloat{next()});
    case Kind::boolean: return Value(StagedBool{next()});
    case Kind::choice: return Value(Choice{next(), std::make_shared<const std::vector<Value>>(f.keys)});
    case Kind::maybe: {
      const V present = next();
      Value inner = decode(s, f.parts[0], in);
      return Value(Maybe{present, std::make_shared<const Value>(std::move(inner))});
    }
    case Kind::tuple: return Value::tuple(parts(), f.named);
    case Kind::list: return s.list(parts());
    case Kind::dict: {
      std::vector<std::pair<Value, Value>> entries;
      for (size_t i = 0; i < f.parts.size(); ++i) entries.emplace_back(f.keys[i], decode(s, f.parts[i], in));
      return s.dict(std::move(entries));
    }
    case Kind::staged_list: {
      StagedList l{f.parts[0], f.sequence, {}};
      for (const CellId cell : f.memory) l.sources.push_back({cell, s.version_of(cell)});
      for (size_t i = graph_types(f).size(); i-- > 0;) l.arrays.push_back(next());
      return make_staged(s, std::move(l));
    }
  }
  return Value();
}

void map_dims(Form& f, const std::function<Dim(Dim)>& map) {
  if (f.type.shape)
    for (Dim& d : *f.type.shape) d = map(d);
  if (std::any_of(f.layout.strides.begin(), f.layout.strides.end(), [&](Dim d) { return !(map(d) == d); }))
    f.layout = {};
  for (Form& part : f.parts) map_dims(part, map);
}

}  // namespace cameo::staging
