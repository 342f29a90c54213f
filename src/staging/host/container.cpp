// Lists and dicts, by reference as in Python.
#include <algorithm>

#include "lowering/forms.h"
#include "staging/host/tables.h"
#include "staging/joins/open_text.h"
#include "staging/joins/staged_list.h"
#include "staging/joins/truth.h"

namespace cameo::staging {

namespace {

int64_t position(HostCall& c, const Value& at, size_t size, bool insert = false) {
  const Dim d = c.s.int_from(at);
  if (!d.is_literal())
    c.s.fail("stage.index", "a list is indexed with a number that depends on the inputs",
             "--loops unroll makes loop counters known");
  const auto n = static_cast<int64_t>(size);
  const int64_t i = d.literal() < 0 ? d.literal() + n : d.literal();
  if (insert) return std::clamp<int64_t>(i, 0, n);
  if (i < 0 || i >= n) c.s.raise(cat("index ", d.literal(), " is outside a list of ", n));
  return i;
}

std::vector<Value>& list_of(HostCall& c) {
  c.s.items(c[0]);  // its length must be known
  return c.s.change_list(c[0].need<ListRef>().cell).items;
}
const DictCell& dict_cell(HostCall& c) {
  const auto& cell = c.s.heap.get<DictCell>(c[0].need<DictRef>().cell);
  if (cell.poison) c.s.fail("stage.unavailable", *cell.poison);
  return cell;
}
std::vector<std::pair<Value, Value>>& dict_of(HostCall& c) {
  dict_cell(c);
  return c.s.change_dict(c[0].need<DictRef>().cell).entries;
}
const std::vector<std::pair<Value, Value>>& entries(HostCall& c) { return dict_cell(c).entries; }
// A list whose length depends on data.
std::optional<StagedList> staged(const HostCall& c, size_t i = 0) {
  const StagedList* l = i < c.size() ? staged_of(c.s, c[i]) : nullptr;
  return l ? std::optional<StagedList>(*l) : std::nullopt;
}
void become(HostCall& c, StagedList l) {
  c.s.change_list(c[0].need<ListRef>().cell) = ListCell{{}, std::make_shared<const StagedList>(std::move(l)), {}};
}
bool on_list(const HostCall& c) { return c.size() > 0 && c[0].is<ListRef>(); }
bool on_dict(const HostCall& c) { return c.size() > 0 && c[0].is<DictRef>(); }

// What Python would raise: on a way that the inputs decide, one that is not taken.
Results raised(HostCall& c, std::string message) { c.s.raise(std::move(message)); }

// The entries of a dict that may have a key, each with whether it has; the first that surely has it is the last one.
struct Candidate {
  size_t at;
  Value has;
};
std::vector<Candidate> candidates(HostCall& c, const Value& key) {
  std::vector<Candidate> out;
  const auto all = entries(c);
  for (size_t i = 0; i < all.size(); ++i) {
    Value has = equal(c.s, all[i].first, key);
    const auto known = c.s.known_bool(has);
    if (known && !*known) continue;
    if (known) return {{i, true}};  // keys differ: no other has it
    out.push_back({i, std::move(has)});
  }
  return out;
}
bool certain(const std::vector<Candidate>& found) { return !found.empty() && found.back().has.is<bool>(); }
Value found_any(HostCall& c, const std::vector<Candidate>& found) {
  Value any = false;
  for (const Candidate& f : found) any = either(c.s, any, f.has);
  return any;
}
Value value_among(HostCall& c, const std::vector<Candidate>& found, Value otherwise) {
  const auto all = entries(c);
  for (size_t i = found.size(); i-- > 0;)
    otherwise = otherwise.is<Uninitialized>() ? all[found[i].at].second
                                              : chosen(c.s, found[i].has, all[found[i].at].second, otherwise);
  return otherwise;
}
void poison_dict(HostCall& c, std::string_view what) {
  dict_cell(c);
  c.s.change_dict(c[0].need<DictRef>().cell).poison = std::make_shared<const std::string>(cat(
      "a dict ", what, " a key that depends on the inputs, so its keys are not known (", c.s.here().describe(), ")"));
}

Results append(HostCall& c) {
  if (!on_list(c)) return std::nullopt;
  if (const auto l = staged(c)) become(c, with_inserted(c.s, *l, std::nullopt, c[1]));
  else {
    c.s.heap.charge(sizeof(Value));
    list_of(c).push_back(c[1]);
  }
  return one(c[0]);
}
Results extend(HostCall& c) {
  if (!on_list(c)) return std::nullopt;
  if (const auto more = staged(c, 1); more && !staged(c)) {
    StagedList all = *more;
    const auto first = c.s.items(c[0]);
    for (size_t i = first.size(); i-- > 0;) all = with_inserted(c.s, all, Dim(0), first[i]);
    become(c, std::move(all));
    return one(c[0]);
  }
  if (const auto l = staged(c)) {
    become(c, concatenated(c.s, *l, c[1]));
    return one(c[0]);
  }
  const auto more = c.s.items(c[1]);
  c.s.heap.charge(more.size() * sizeof(Value));
  auto& l = list_of(c);
  l.insert(l.end(), more.begin(), more.end());
  return one(c[0]);
}
Results insert(HostCall& c) {
  if (!on_list(c)) return std::nullopt;
  if (const auto l = staged(c)) {
    become(c, with_inserted(c.s, *l, c.s.int_from(c[1]), c[2]));
    return one(c[0]);
  }
  c.s.heap.charge(sizeof(Value));
  auto& l = list_of(c);
  l.insert(l.begin() + position(c, c[1], l.size(), true), c[2]);
  return one(c[0]);
}
Results pop(HostCall& c) {
  if (const auto l = staged(c)) {
    const Dim at = c.size() > 1 ? c.s.int_from(c[1]) : Dim(-1);
    Value v = element_at(c.s, *l, at);
    become(c, without_element(c.s, *l, at));
    return one(std::move(v));
  }
  if (on_list(c)) {
    auto& l = list_of(c);
    if (l.empty()) return raised(c, "pop from an empty list");
    const int64_t i = c.size() > 1 ? position(c, c[1], l.size()) : static_cast<int64_t>(l.size()) - 1;
    Value v = l[static_cast<size_t>(i)];
    l.erase(l.begin() + i);
    return one(std::move(v));
  }
  if (!on_dict(c)) return std::nullopt;
  const auto found = candidates(c, c[1]);
  if (certain(found)) {
    auto& d = dict_of(c);
    Value v = d[found[0].at].second;
    d.erase(d.begin() + static_cast<std::ptrdiff_t>(found[0].at));
    return one(std::move(v));
  }
  if (found.empty()) return c.size() > 2 ? one(c[2]) : raised(c, "a key is not in the dict");
  Value v = value_among(c, found, c.size() > 2 ? c[2] : Value(Uninitialized{}));
  poison_dict(c, "loses");
  return one(std::move(v));
}
Results set_item(HostCall& c) {
  if (const auto l = staged(c)) {
    become(c, with_element(c.s, *l, c.s.int_from(c[1]), c[2]));
    return one(c[0]);
  }
  if (on_list(c)) {
    if (const Dim at = c.s.graph.facts.simplify(c.s.int_from(c[1])); !at.is_literal() && !c.s.strict())
      if (const auto l = staged_from(c.s, c[0])) {
        become(c, with_element(c.s, *l, at, c[2]));
        return one(c[0]);
      }
    auto& l = list_of(c);
    l[static_cast<size_t>(position(c, c[1], l.size()))] = c[2];
    return one(c[0]);
  }
  if (!on_dict(c)) return std::nullopt;
  const auto found = candidates(c, c[1]);
  if (certain(found)) dict_of(c)[found[0].at].second = c[2];
  else if (found.empty()) {
    c.s.heap.charge(2 * sizeof(Value));
    dict_of(c).emplace_back(c[1], c[2]);
  } else if (c.s.conditions.hold(found_any(c, found))) {
    for (const Candidate& f : found) {
      Value v = chosen(c.s, f.has, c[2], entries(c)[f.at].second);
      dict_of(c)[f.at].second = std::move(v);
    }
  } else poison_dict(c, "gets");
  return std::vector<Value>{};
}
Results get_item(HostCall& c) {
  if (on_dict(c)) {
    const auto found = candidates(c, c[1]);
    if (found.empty()) return raised(c, "a key is not in the dict");
    if (!certain(found))  // holds from here on: `d[k] += 1` writes an entry that is there
      if (const Value has = found_any(c, found); !c.s.conditions.hold(has)) c.s.check(has, "a key is not in the dict");
    return one(value_among(c, found, Uninitialized{}));
  }
  if (!on_list(c) && !c[0].is<Tuple>()) return std::nullopt;
  if (const auto l = staged(c)) return one(element_at(c.s, *l, c.s.int_from(c[1])));
  const auto& l = c.s.items(c[0]);
  return one(l[static_cast<size_t>(position(c, c[1], l.size()))]);
}
Results remove_at(HostCall& c) {
  auto out = pop(c);
  return out ? Results(std::vector<Value>{}) : std::nullopt;
}
Results clear(HostCall& c) {
  if (on_list(c)) c.s.change_list(c[0].need<ListRef>().cell) = {};
  else if (on_dict(c)) dict_of(c).clear();
  else return std::nullopt;
  return std::vector<Value>{};
}
Results copy(HostCall& c) {
  if (on_dict(c)) return one(c.s.dict(entries(c)));
  if (const auto l = staged(c)) return one(make_staged(c.s, *l));
  if (c.size() == 1 && (c[0].is<ListRef>() || c[0].is<Tuple>())) return one(c.s.list(c.s.items(c[0])));
  return std::nullopt;
}
Results reverse(HostCall& c) {
  if (!on_list(c)) return std::nullopt;
  if (const auto l = staged(c)) {
    become(c, sliced(c.s, *l, std::nullopt, std::nullopt, -1));
    return std::vector<Value>{};
  }
  auto& l = list_of(c);
  std::reverse(l.begin(), l.end());
  return std::vector<Value>{};
}
Results slice(HostCall& c) {
  if (!on_list(c) && !(c.size() > 0 && c[0].is<std::string>())) return std::nullopt;
  const auto bound = [&](size_t i) {
    return i < c.size() && !c[i].is_none() ? std::optional<Dim>(c.s.int_from(c[i])) : std::nullopt;
  };
  const auto known = [&](size_t i) { return !bound(i) || bound(i)->is_literal(); };
  auto l = staged(c);
  if (!l && on_list(c) && !(known(1) && known(2))) l = staged_from(c.s, c[0]);
  if (l) {
    const Dim step = c.size() > 3 ? c.s.int_from(c[3]) : Dim(1);
    if (!step.is_literal() || step.is(0)) c.s.fail("stage.index", "a slice's step must be known and not 0");
    return one(make_staged(c.s, sliced(c.s, *l, bound(1), bound(2), step.literal())));
  }
  const auto* text = c[0].as<std::string>();
  const auto n = static_cast<int64_t>(text ? text->size() : c.s.items(c[0]).size());
  const auto number = [&](size_t i, int64_t otherwise) {
    if (i >= c.size() || c[i].is_none()) return otherwise;
    const Dim d = c.s.int_from(c[i]);
    if (!d.is_literal()) c.s.fail("stage.index", "a list is cut at a place that depends on the inputs");
    return d.literal();
  };
  const int64_t step = std::clamp(number(3, 1), -n - 1, n + 1);
  if (step == 0) c.s.raise("a slice's step is 0");
  const auto clamp = [&](int64_t v) {
    return std::clamp<int64_t>(v < 0 ? v + n : v, step < 0 ? -1 : 0, step < 0 ? n - 1 : n);
  };
  const bool no_end = 2 >= c.size() || c[2].is_none();
  int64_t i = clamp(number(1, step < 0 ? n - 1 : 0));
  const int64_t end = no_end ? (step < 0 ? -1 : n) : clamp(number(2, n));
  std::vector<Value> parts;
  std::string cut;
  for (; step > 0 ? i < end : i > end; i += step) {
    if (text) cut += (*text)[static_cast<size_t>(i)];
    else parts.push_back(c.s.items(c[0])[static_cast<size_t>(i)]);
  }
  return text ? one(std::move(cut)) : one(c.s.list(std::move(parts)));
}
Results length(HostCall& c) {
  if (on_dict(c)) return one(Dim(static_cast<int64_t>(entries(c).size())));
  if (const auto* s = c[0].as<std::string>()) return one(Dim(static_cast<int64_t>(s->size())));
  if (const auto* t = c[0].as<TensorRef>()) return one(c.s.on.dim(c.s.read(*t), 0));
  if (const auto* t = c[0].as<OpenText>()) return one(length_of_text(c.s, OpenText(*t)));
  if (const auto l = staged(c)) return one(length_of(c.s, *l));
  if (c[0].is<ListRef>() || c[0].is<Tuple>()) return one(Dim(static_cast<int64_t>(c.s.items(c[0]).size())));
  if (const auto* o = c[0].as<ObjectRef>()) {
    const auto& attributes = c.s.heap.get<ObjectCell>(o->cell).attributes;
    return one(Dim(std::count_if(attributes.begin(), attributes.end(),
                                 [](const auto& a) { return a.second.template is<ObjectRef>(); })));
  }
  return std::nullopt;
}
Results contains(HostCall& c) {
  if (on_dict(c)) return one(found_any(c, candidates(c, c[1])));
  if (const auto l = staged(c)) return one(among(c.s, *l, c[1]));
  if (!on_list(c) && !c[0].is<Tuple>()) return std::nullopt;
  return one(among(c.s, c.s.items(c[0]), c[1]));
}
Results keys(HostCall& c) {
  if (!on_dict(c)) return std::nullopt;
  std::vector<Value> out;
  for (const auto& [key, value] : entries(c)) out.push_back(key);
  return one(c.s.list(std::move(out)));
}
Results values(HostCall& c) {
  if (!on_dict(c)) return std::nullopt;
  std::vector<Value> out;
  for (const auto& [key, value] : entries(c)) out.push_back(value);
  return one(c.s.list(std::move(out)));
}
Results pairs(HostCall& c) {
  if (!on_dict(c)) return std::nullopt;
  std::vector<Value> out;
  for (const auto& [key, value] : entries(c)) out.push_back(Value::tuple({key, value}));
  return one(c.s.list(std::move(out)));
}
Results get(HostCall& c) {
  if (!on_dict(c)) return std::nullopt;
  return one(value_among(c, candidates(c, c[1]), c.size() > 2 ? c[2] : Value()));
}
Results set_default(HostCall& c) {
  if (!on_dict(c)) return std::nullopt;
  const auto found = candidates(c, c[1]);
  Value v = value_among(c, found, c[2]);
  if (found.empty()) dict_of(c).emplace_back(c[1], c[2]);
  else if (!certain(found) && !c.s.conditions.hold(found_any(c, found))) poison_dict(c, "gets");
  return one(std::move(v));
}
Results update(HostCall& c) {
  if (!on_dict(c) || !c[1].is<DictRef>()) return std::nullopt;
  const auto more = c.s.heap.get<DictCell>(c[1].need<DictRef>().cell).entries;
  for (const auto& [key, value] : more) {
    std::vector<Value> args{c[0], key, value};
    HostCall one_item{c.s, args, c.keywords};
    set_item(one_item);
  }
  return std::vector<Value>{};
}
// The first item, as PyTorch has it; Python takes the last.
Results pop_item(HostCall& c) {
  if (!on_dict(c)) return std::nullopt;
  auto& d = dict_of(c);
  if (d.empty()) return raised(c, "popitem() of an empty dict");
  const auto [key, value] = d.front();
  d.erase(d.begin());
  return one(Value::tuple({key, value}));
}
Results make_dict(HostCall& c) {
  if (c.size() == 0) return one(c.s.dict({}));
  if (on_dict(c)) return one(c.s.dict(entries(c)));
  std::vector<std::pair<Value, Value>> out;
  for (const Value& v : std::vector<Value>(c.s.items(c[0]))) {
    const auto& pair = c.s.items(v);
    if (pair.size() != 2) c.s.fail("stage.unpack", cat("a dict is made of pairs, not of ", pair.size(), " values"));
    out.emplace_back(pair[0], pair[1]);
  }
  return one(c.s.dict(std::move(out)));
}
// Identity with None decides: everything else is some value.
template <bool Wanted>
Results is(HostCall& c) {
  if (c[0].is<Poison>() || c[1].is<Poison>()) return std::nullopt;
  const Value &a = c[0], &b = c[1];
  const auto* m = a.is<Maybe>() && b.is_none() ? a.as<Maybe>() : b.is<Maybe>() && a.is_none() ? b.as<Maybe>() : nullptr;
  if (m) return one(Value(StagedBool{Wanted ? V(c.s.on.Not(m->present)) : m->present}));
  return one((a.is_none() || b.is_none() ? a.is_none() && b.is_none() : same(a, b)) == Wanted);
}
Results itself(HostCall& c) { return one(c[0]); }
Results unwrap(HostCall& c) {
  if (c[0].is_none()) return raised(c, "None where a value is needed");
  return one(c[0].is<Maybe>() ? *c[0].need<Maybe>().value : c[0]);
}
Results known_sort(HostCall& c) {
  if (!on_list(c)) return std::nullopt;
  auto l = c.s.items(c[0]);
  const bool down = c.size() > 1 && c[1].is<bool>() && c[1].need<bool>();
  const auto key = [&](const Value& v) {
    if (const auto* d = v.as<Dim>(); d && d->is_literal()) return static_cast<double>(d->literal());
    if (const auto* f = v.as<double>()) return *f;
    if (const auto* p = v.as<Poison>()) c.s.fail("stage.unavailable", *p->why);
    c.s.fail("stage.sort", "a list is sorted whose items depend on the inputs");
  };
  if (!l.empty() && l[0].is<std::string>())
    std::stable_sort(l.begin(), l.end(), [&](const Value& a, const Value& b) {
      return down ? b.need<std::string>() < a.need<std::string>() : a.need<std::string>() < b.need<std::string>();
    });
  else
    std::stable_sort(l.begin(), l.end(),
                     [&](const Value& a, const Value& b) { return down ? key(b) < key(a) : key(a) < key(b); });
  return one(c.s.list(std::move(l)));
}
Results sort(HostCall& c) {
  auto sorted = known_sort(c);
  if (!sorted) return std::nullopt;
  list_of(c) = c.s.items((*sorted)[0]);
  return std::vector<Value>{};
}
Results range_list(HostCall& c) {
  std::vector<Value> out;
  const Dim n = c.s.int_from(c[0]);
  if (!n.is_literal()) {
    Form element;
    element.kind = Form::Kind::integer;
    return one(make_staged(c.s, StagedList{element, false, {iota(c.s.on, n)}}));
  }
  if (n.literal() > 0)
    c.s.heap.need(static_cast<uint64_t>(n.literal()) > SIZE_MAX / sizeof(Value)
                      ? SIZE_MAX
                      : static_cast<size_t>(n.literal()) * sizeof(Value));
  for (int64_t i = 0; i < n.literal(); ++i) out.emplace_back(Dim(i));
  return one(c.s.list(std::move(out)));
}

constexpr HostRow table[] = {
    {"aten::append", append},
    {"aten::extend", extend},
    {"aten::add_", extend},
    {"aten::insert", insert},
    {"aten::pop", pop},
    {"aten::_set_item", set_item},
    {"aten::__getitem__", get_item},
    {"aten::Delete", remove_at},
    {"aten::clear", clear},
    {"aten::copy", copy},
    {"aten::list", copy},
    {"aten::reverse", reverse},
    {"aten::slice", slice},
    {"aten::len", length},
    {"aten::__contains__", contains},
    {"aten::keys", keys},
    {"aten::values", values},
    {"aten::items", pairs},
    {"aten::get", get},
    {"aten::setdefault", set_default},
    {"aten::update", update},
    {"aten::dict", make_dict},
    {"aten::popitem", pop_item},
    {"aten::__is__", is<true>},
    {"aten::__isnot__", is<false>},
    {"aten::_unwrap_optional", unwrap},
    {"prim::unchecked_unwrap_optional", unwrap},
    {"aten::wait", itself},
    {"prim::awaitable_wait", itself},
    {"aten::sorted", known_sort},
    {"aten::sort", sort},
    {"prim::rangelist", range_list},
    {"aten::Size", itself},
};

}  // namespace

std::span<const HostRow> host_container_rows() { return table; }

}  // namespace cameo::staging
