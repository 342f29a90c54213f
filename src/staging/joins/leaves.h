// The single values inside a changed cell: a local, an attribute, a tensor, a whole list or dict.
#pragma once

#include "staging/machine/machine.h"

namespace cameo::staging {

struct Leaf {
  CellId cell;
  size_t slot = 0;  // of a frame or object; 0 for others, which are one leaf
  friend auto operator<=>(const Leaf& a, const Leaf& b) {
    return std::pair(a.cell.index, a.slot) <=> std::pair(b.cell.index, b.slot);
  }
  friend bool operator==(const Leaf& a, const Leaf& b) { return a.cell == b.cell && a.slot == b.slot; }
};

// The leaves of a cell whose values differ between two states.
std::vector<Leaf> differing(CellId cell, const CellData& a, const CellData& b);
// A leaf's value; of a tensor, list or dict cell, a new cell of the same contents. Uninitialized where there is none.
Value value_at(Machine& s, const CellData& data, size_t slot);
bool assigned_at(const CellData& data, size_t slot);
void set_at(Machine& s, const Leaf& leaf, const Value& v);
inline bool is_local(const CellData& data) { return std::holds_alternative<FrameCell>(data); }
inline bool is_tensor(const CellData& data) { return std::holds_alternative<TensorCell>(data); }

// What a staged part did to tensors that others may share memory with, to be recorded again once its heap was rewound.
struct Aftermath {
  std::vector<std::pair<CellId, std::shared_ptr<const Doubt>>> lost;  // their contents are unknown from now on
  std::vector<CellId> certain;                                        // it wrote these itself and knows them
};
Aftermath aftermath(const Machine& s, const HeapMark& since);

// A value that stays what it is when the cells older than `mark` are rewound: views and written tensors become copies.
Value settled(Machine& s, const Value& v, const HeapMark& mark, RegionId outer);

}  // namespace cameo::staging
