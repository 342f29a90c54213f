#include "staging/joins/leaves.h"

namespace cameo::staging {

namespace {
bool same_items(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Value& x, const Value& y) { return same(x, y); });
}
bool same_entries(const DictCell& a, const DictCell& b) {
  return std::equal(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
                    [](const auto& x, const auto& y) { return same(x.first, y.first) && same(x.second, y.second); });
}
}  // namespace

std::vector<Leaf> differing(CellId cell, const CellData& a, const CellData& b) {
  std::vector<Leaf> out;
  if (const auto* x = std::get_if<TensorCell>(&a)) {
    if (x->value.id != std::get<TensorCell>(b).value.id) out.push_back({cell, 0});
  } else if (const auto* f = std::get_if<FrameCell>(&a)) {
    const auto& g = std::get<FrameCell>(b);
    for (size_t i = 0; i < f->locals.size(); ++i)
      if (f->assigned[i] != g.assigned[i] || !same(f->locals[i], g.locals[i])) out.push_back({cell, i});
  } else if (const auto* o = std::get_if<ObjectCell>(&a)) {
    const auto& p = std::get<ObjectCell>(b);
    const size_t both = std::min(o->attributes.size(), p.attributes.size()),
                 all = std::max(o->attributes.size(), p.attributes.size());
    for (size_t i = 0; i < all; ++i)
      if (i >= both || !same(o->attributes[i].second, p.attributes[i].second)) out.push_back({cell, i});
  } else if (const auto* l = std::get_if<ListCell>(&a)) {
    const auto& m = std::get<ListCell>(b);
    if (l->staged != m.staged || l->poison != m.poison || !same_items(l->items, m.items)) out.push_back({cell, 0});
  } else if (const auto* d = std::get_if<DictCell>(&a)) {
    const auto& e = std::get<DictCell>(b);
    if (d->poison != e.poison || !same_entries(*d, e)) out.push_back({cell, 0});
  }
  return out;
}

bool assigned_at(const CellData& data, size_t slot) {
  if (const auto* f = std::get_if<FrameCell>(&data)) return f->assigned[slot];
  const auto* o = std::get_if<ObjectCell>(&data);
  return !o || slot < o->attributes.size();
}

Value value_at(Machine& s, const CellData& data, size_t slot) {
  if (!assigned_at(data, slot)) return Value(Uninitialized{});
  if (const auto* f = std::get_if<FrameCell>(&data)) return f->locals[slot];
  if (const auto* o = std::get_if<ObjectCell>(&data)) return o->attributes[slot].second;
  if (const auto* l = std::get_if<ListCell>(&data))
    return l->poison ? poison(*l->poison) : Value(ListRef{s.heap.add(ListCell(*l))});
  if (const auto* d = std::get_if<DictCell>(&data))
    return d->poison ? poison(*d->poison) : Value(DictRef{s.heap.add(DictCell(*d))});
  const auto& cell = std::get<TensorCell>(data);
  return s.tensor(cell.value, "", cell.layout);
}

void set_at(Machine& s, const Leaf& leaf, const Value& v) {
  const CellData& data = s.heap[leaf.cell];
  const auto* why = v.as<Poison>();
  if (is_local(data)) {
    auto& f = s.heap.write<FrameCell>(leaf.cell);
    f.locals[leaf.slot] = v;
    f.assigned[leaf.slot] = true;
  } else if (std::holds_alternative<ObjectCell>(data)) {
    auto& attributes = s.heap.write<ObjectCell>(leaf.cell).attributes;
    if (leaf.slot < attributes.size()) attributes[leaf.slot].second = v;
  } else if (std::holds_alternative<ListCell>(data)) {
    s.heap.write<ListCell>(leaf.cell) =
        why ? ListCell{{}, {}, why->why} : ListCell(s.heap.get<ListCell>(v.need<ListRef>().cell));
  } else if (std::holds_alternative<DictCell>(data)) {
    s.heap.write<DictCell>(leaf.cell) =
        why ? DictCell{{}, why->why} : DictCell(s.heap.get<DictCell>(v.need<DictRef>().cell));
  } else {
    if (why) s.fail("stage.join", *why->why);
    const V value = s.read(v.need<TensorRef>());
    auto& cell = s.heap.write<TensorCell>(leaf.cell);
    cell.value = value;
    ++cell.version;
  }
}

Aftermath aftermath(const Machine& s, const HeapMark& since) {
  Aftermath out;
  for (const auto& change : s.heap.changes(since)) {
    const auto* t = std::get_if<TensorCell>(&s.heap[change.cell]);
    if (t && t->stale) out.lost.emplace_back(change.cell, t->stale);
    else if (t && !t->sources.empty() && !s.doubt_about(change.cell)) out.certain.push_back(change.cell);
  }
  return out;
}

Value settled(Machine& s, const Value& v, const HeapMark& mark, RegionId outer) {
  const Machine::Part part_of(s);
  if (const auto* t = v.as<TensorRef>()) {
    const bool old = t->cell.index < mark.cells;
    const bool view_from_outside = t->view && s.graph.is_inside(outer, s.graph[t->view->value.id].home) &&
                                   t->view->version == s.heap.get<TensorCell>(t->cell).version;
    const bool written = old && s.heap.written_since(t->cell, mark);
    const bool tied = !s.heap.get<TensorCell>(t->cell).ties.empty() || !s.heap.get<TensorCell>(t->cell).sources.empty();
    if (!written && !tied && (!t->view || view_from_outside)) return v;
    if (const Doubt* d = s.doubt_about(t->cell)) return poison(d->why);
    Value copy = s.tensor(s.read(*t), "", s.layout_of(*t));
    std::vector<TensorCell::Source> sources{{t->cell, TensorCell::Source::any}};
    for (const auto& origin : s.origins(t->cell)) sources.push_back({origin.cell, TensorCell::Source::any});
    s.may_share_with(copy, std::move(sources), "stage.write-joined",
                     cat("a tensor is read that may be one that an if gave another name (", s.here().describe(), ")"));
    return copy;
  }
  if (const auto* t = v.as<Tuple>()) {
    std::vector<Value> parts;
    for (const Value& p : *t->items) parts.push_back(settled(s, p, mark, outer));
    return Value::tuple(std::move(parts), t->named);
  }
  if (const auto* m = v.as<Maybe>())
    return Value(Maybe{m->present, std::make_shared<const Value>(settled(s, *m->value, mark, outer))});
  if (const auto* l = v.as<ListRef>()) {
    // An old list is joined as a cell of its own; a new one has no other owner.
    if (l->cell.index < mark.cells) return v;
    ListCell cell = s.heap.get<ListCell>(l->cell);
    for (Value& item : cell.items) item = settled(s, item, mark, outer);
    return Value(ListRef{s.heap.add(std::move(cell))});
  }
  if (const auto* d = v.as<DictRef>()) {
    if (d->cell.index < mark.cells) return v;
    DictCell cell = s.heap.get<DictCell>(d->cell);
    for (auto& [key, value] : cell.entries) value = settled(s, value, mark, outer);
    return Value(DictRef{s.heap.add(std::move(cell))});
  }
  return v;
}

}  // namespace cameo::staging
