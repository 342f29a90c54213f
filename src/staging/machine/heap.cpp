#include "staging/machine/heap.h"

#include <algorithm>

#include "support/budget.h"

namespace cameo::staging {

namespace {

size_t text_bytes(const Value& v) {
  const auto* text = v.as<std::string>();
  return text ? text->size() : 0;
}

struct Size {
  size_t operator()(const TensorCell& c) const {
    return c.name.size() + c.sources.size() * sizeof(c.sources[0]) + c.layout.strides.size() * sizeof(Dim);
  }
  size_t operator()(const ListCell& c) const { return of(c.items); }
  size_t operator()(const DictCell& c) const {
    size_t n = 0;
    for (const auto& [key, value] : c.entries) n += 2 * sizeof(Value) + text_bytes(key) + text_bytes(value);
    return n;
  }
  size_t operator()(const ObjectCell& c) const {
    size_t n = c.path.size();
    for (const auto& [key, value] : c.attributes) n += sizeof(key) + sizeof(value) + text_bytes(value);
    return n;
  }
  size_t operator()(const FrameCell& c) const { return of(c.locals); }
  static size_t of(const std::vector<Value>& values) {
    size_t n = values.size() * sizeof(Value);
    for (const Value& v : values) n += text_bytes(v);
    return n;
  }
};

constexpr size_t one_cell = sizeof(CellData) + 64;  // with its counts and its entry in a table
size_t bytes_of(const CellData& data) { return one_cell + std::visit(Size(), data); }

}  // namespace

void Heap::need(size_t bytes) const {
  if (bytes > most_bytes || bytes_ > most_bytes - bytes)
    throw over_budget("heap", cat("the program's values take more than ", most_bytes >> 20, " MiB"), "");
}

void Heap::release(const CellData& data) { bytes_ -= std::min(bytes_, bytes_of(data)); }

void Heap::Turns::done() {
  auto& log = heap_.log_;
  size_t to = done_;
  for (size_t i = done_; i < log.size(); ++i) {
    if (!kept_.insert(log[i].cell.index).second) {
      heap_.release(*log[i].before);
      continue;
    }
    if (to != i) log[to] = std::move(log[i]);
    ++to;
  }
  log.erase(log.begin() + static_cast<std::ptrdiff_t>(to), log.end());
  done_ = to;
  heap_.last_.log = ~size_t{0};  // what this epoch wrote may not be in the log any more
}

CellId Heap::add(CellData data) {
  charge(bytes_of(data));
  cells_.push_back({std::make_shared<CellData>(std::move(data)), epoch_});
  return CellId(static_cast<uint32_t>(cells_.size() - 1));
}

CellData& Heap::writable(CellId id) {
  Cell& c = cells_[id.index];
  if (c.epoch != epoch_) {
    charge(bytes_of(*c.data));
    log_.push_back({id, c.data, c.epoch});
    c.data = std::make_shared<CellData>(*c.data);
    c.epoch = epoch_;
  }
  return *c.data;
}

HeapMark Heap::mark() {
  if (last_.log != log_.size() || last_.cells != cells_.size()) {
    ++epoch_;
    last_ = {log_.size(), cells_.size()};
  }
  return last_;
}

std::vector<Heap::Change> Heap::changes(const HeapMark& m) const {
  std::vector<Change> out;
  std::unordered_set<uint32_t> seen;
  for (size_t i = m.log; i < log_.size(); ++i)
    if (log_[i].cell.index < m.cells && seen.insert(log_[i].cell.index).second)
      out.push_back({log_[i].cell, log_[i].before});
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
    if (e.cell.index < m.cells) {
      release(*cells_[e.cell.index].data);
      cells_[e.cell.index] = {std::move(e.before), e.epoch};
    }
    log_.pop_back();
  }
  ++epoch_;
  last_ = {log_.size(), cells_.size()};
}

}  // namespace cameo::staging
