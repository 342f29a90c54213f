#include "staging/leaves.h"

namespace cameo::staging {

std::optional<std::vector<Leaf>> differing(CellId cell, const CellData& a, const CellData& b) {
  std::vector<Leaf> out;
  if (const auto* x = std::get_if<TensorCell>(&a)) {
    if (x->value.id != std::get<TensorCell>(b).value.id) out.push_back({cell, 0});
  } else if (const auto* f = std::get_if<FrameCell>(&a)) {
    const auto& g = std::get<FrameCell>(b);
    for (size_t i = 0; i < f->locals.size(); ++i)
      if (f->assigned[i] != g.assigned[i] || !same(f->locals[i], g.locals[i])) out.push_back({cell, i});
  } else if (const auto* o = std::get_if<ObjectCell>(&a)) {
    const auto& p = std::get<ObjectCell>(b);
    if (o->attributes.size() != p.attributes.size()) return std::nullopt;
    for (size_t i = 0; i < o->attributes.size(); ++i)
      if (!same(o->attributes[i].second, p.attributes[i].second)) out.push_back({cell, i});
  } else if (const auto* l = std::get_if<ListCell>(&a)) {
    const auto& m = std::get<ListCell>(b);
    if (l->items.size() != m.items.size()) return std::nullopt;
    for (size_t i = 0; i < l->items.size(); ++i)
      if (!same(l->items[i], m.items[i])) out.push_back({cell, i});
  } else if (const auto* d = std::get_if<DictCell>(&a)) {
    const auto& e = std::get<DictCell>(b);
    if (d->entries.size() != e.entries.size()) return std::nullopt;
    for (size_t i = 0; i < d->entries.size(); ++i) {
      if (!same(d->entries[i].first, e.entries[i].first)) return std::nullopt;
      if (!same(d->entries[i].second, e.entries[i].second)) out.push_back({cell, i});
    }
  }
  return out;
}

Value value_at(const CellData& data, size_t slot) {
  if (const auto* f = std::get_if<FrameCell>(&data)) return f->locals[slot];
  if (const auto* o = std::get_if<ObjectCell>(&data)) return o->attributes[slot].second;
  if (const auto* l = std::get_if<ListCell>(&data)) return l->items[slot];
  if (const auto* d = std::get_if<DictCell>(&data)) return d->entries[slot].second;
  return Value();
}

bool assigned_at(const CellData& data, size_t slot) {
  const auto* f = std::get_if<FrameCell>(&data);
  return !f || f->assigned[slot];
}

void set_at(Heap& heap, const Leaf& leaf, Value v) {
  const CellData& data = heap[leaf.cell];
  if (std::holds_alternative<FrameCell>(data)) {
    auto& f = heap.write<FrameCell>(leaf.cell);
    f.locals[leaf.slot] = std::move(v);
    f.assigned[leaf.slot] = true;
  } else if (std::holds_alternative<ObjectCell>(data)) heap.write<ObjectCell>(leaf.cell).attributes[leaf.slot].second = std::move(v);
  else if (std::holds_alternative<ListCell>(data)) heap.write<ListCell>(leaf.cell).items[leaf.slot] = std::move(v);
  else if (std::holds_alternative<DictCell>(data)) heap.write<DictCell>(leaf.cell).entries[leaf.slot].second = std::move(v);
}

}  // namespace cameo::staging
