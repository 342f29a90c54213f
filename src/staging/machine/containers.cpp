// Lists, tuples and dicts: their items, and lists and dicts that are changed or may be one and the same.
#include <algorithm>
#include <utility>

#include "staging/joins/choice.h"
#include "staging/joins/staged_list.h"
#include "staging/machine/machine.h"

namespace cameo::staging {

std::vector<Value> Machine::unpack(const Value& v, size_t count) {
  if (v.is<Poison>() || v.is<Uninitialized>()) return std::vector<Value>(count, v);
  if (const StagedList* l = staged_of(*this, v)) {
    const StagedList list = *l;
    std::vector<Value> out;
    for (size_t i = 0; i < count; ++i) out.push_back(element_at(*this, list, Dim(static_cast<int64_t>(i))));
    return out;
  }
  const auto& parts = items(v);
  if (parts.size() != count) fail("stage.unpack", cat(count, " values are needed, and there are ", parts.size()));
  return parts;
}

const std::vector<Value>& Machine::items(const Value& v) const {
  if (const auto* l = v.as<ListRef>()) {
    const auto& cell = heap.get<ListCell>(l->cell);
    if (cell.poison) fail("stage.unavailable", *cell.poison);
    if (cell.staged)
      fail("stage.list-length", "the length of this list depends on the inputs, and must be known here",
           "give the sizes it depends on as numbers");
    return cell.items;
  }
  if (const auto* t = v.as<Tuple>()) return *t->items;
  if (const auto* p = lost_in(v)) fail("stage.unavailable", *p->why);
  fail("stage.type", cat("a list or tuple is needed where ", v.kind(), " is"));
}

ListCell& Machine::change_list(CellId id) {
  part_twins(std::exchange(heap.write<ListCell>(id).twins, {}));
  return heap.write<ListCell>(id);
}

DictCell& Machine::change_dict(CellId id) {
  part_twins(std::exchange(heap.write<DictCell>(id).twins, {}));
  return heap.write<DictCell>(id);
}

void Machine::part_twins(std::vector<CellId> twins) {
  if (twins.empty()) return;
  const auto why = std::make_shared<const std::string>(
      cat("a list or dict that a branch gave another name was changed under one of them (", here().describe(), ")"));
  for (const CellId twin : twins) {
    if (std::holds_alternative<ListCell>(heap[twin])) heap.write<ListCell>(twin).poison = why;
    else heap.write<DictCell>(twin).poison = why;
  }
}

void Machine::twin(CellId a, CellId b) {
  if (a == b) return;
  for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (std::holds_alternative<ListCell>(heap[one])) heap.write<ListCell>(one).twins.push_back(other);
    else heap.write<DictCell>(one).twins.push_back(other);
  }
}

namespace {
// The string or enum at a place that the inputs decide.
Value one_of(Machine& s, const std::vector<Value>& values, Dim at) {
  const auto n = static_cast<int64_t>(values.size());
  if (n == 0) s.raise("an empty string is indexed");
  V index = s.on.int_scalar(at);
  if (s.graph.facts.less(at, Dim(0)) != Answer::no)
    index = s.on.Where(s.on.Less(index, s.on.int_scalar(Dim(0))), s.on.Add(index, s.on.int_scalar(Dim(n))), index);
  if (auto one = picked(s, index, values)) return std::move(*one);
  s.fail("stage.index", "a list is indexed with a number that depends on the inputs",
         "--loops unroll makes loop counters known");
}
}  // namespace

Value Machine::item(const Value& object, const Value& at) {
  if (object.is<DictRef>()) return call_op("aten", "__getitem__", {{object, at}, {}})[0];
  if (const auto* text = object.as<std::string>()) {
    const Dim i = int_from(at);
    const auto n = static_cast<int64_t>(text->size());
    if (!i.is_literal()) {
      if (strict()) fail("stage.index", "a string is indexed with a number that depends on the inputs");
      std::vector<Value> letters;
      for (const char letter : *text) letters.emplace_back(std::string(1, letter));
      return one_of(*this, letters, i);
    }
    const int64_t k = i.literal() < 0 ? i.literal() + n : i.literal();
    if (k < 0 || k >= n) raise(cat("index ", i.literal(), " is outside a string of ", n));
    return std::string(1, (*text)[static_cast<size_t>(k)]);
  }
  if (const StagedList* l = staged_of(*this, object)) return element_at(*this, StagedList(*l), int_from(at));
  const auto& parts = items(object);
  const auto n = static_cast<int64_t>(parts.size());
  const Dim i = graph.facts.simplify(int_from(at));
  if (!i.is_literal()) {
    // All the same: the index does not matter.
    if (n > 0 && std::all_of(parts.begin(), parts.end(), [&](const Value& v) { return same(v, parts[0]); }))
      return parts[0];
    if (!strict() && n > 0 && std::all_of(parts.begin(), parts.end(), may_be_chosen))
      return one_of(*this, std::vector(parts), i);
    if (!strict())
      if (const auto l = staged_from(*this, object)) return element_at(*this, *l, i);
    fail("stage.index", "a list is indexed with a number that depends on the inputs",
         "--loops unroll makes loop counters known");
  }
  const int64_t k = i.literal() < 0 ? i.literal() + n : i.literal();
  if (k < 0 || k >= n) raise(cat("index ", i.literal(), " is outside a list of ", n));
  return parts[static_cast<size_t>(k)];
}

}  // namespace cameo::staging
