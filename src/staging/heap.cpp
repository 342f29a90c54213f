#include "staging/heap.h"

#include <unordered_set>

namespace cameo::staging {

CellId Heap::add(CellData data) {
  cells_.push_back({std::make_shared<CellData>(std::move(data)), epoch_});
  return CellId(static_cast<uint32_t>(cells_.size() - 1));
}

CellData& Heap::writable(CellId id) {
  Cell& c = cells_[id.index];
  if (c.epoch != epoch_) {
    log_.push_back({id, c.data, c.epoch});
    c.data = std::make_shared<CellData>(*c.data);
    c.epoch = epoch_;
  }
  return *c.data;
}

HeapMark Heap::mark() {
  ++epoch_;
  return {log_.size(), cells_.size()};
}

std::vector<Heap::Change> Heap::changes(const HeapMark& m) const {
  std::vector<Change> out;
  std::unordered_set<uint32_t> seen;
  for (size_t i = m.log; i < log_.size(); ++i)
    if (log_[i].cell.index < m.cells && seen.insert(log_[i].cell.index).second) out.push_back({log_[i].cell, log_[i].before});
  return out;
}

bool Heap::written_since(CellId id, const HeapMark& m) const {
  for (size_t i = m.log; i < log_.size(); ++i)
    if (log_[i].cell == id) return true;
  return false;
}

void Heap::rewind(const HeapMark& m) {
  while (log_.size() > m.log) {
    Entry& e = log_.back();
    if (e.cell.index < m.cells) cells_[e.cell.index] = {std::move(e.before), e.epoch};
    log_.pop_back();
  }
  ++epoch_;
}

}  // namespace cameo::staging
